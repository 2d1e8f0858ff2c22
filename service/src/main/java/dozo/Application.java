package dozo;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dozo.collect.CollectSettings;
import dozo.command.CopyCommand;
import dozo.command.Dozo;
import dozo.demo.Demo;
import dozo.manifest.IngestSettings;
import dozo.registry.RiskSettings;
import dozo.run.RetentionSettings;
import dozo.run.ScrubSettings;
import dozo.run.TransferSettings;
import dozo.schedule.ScheduleSettings;
import dozo.security.AdministratorSettings;
import dozo.security.DirectorySettings;
import dozo.start.Given;
import dozo.start.HttpSettings;
import dozo.start.PseudonymSettings;
import dozo.start.Settings;
import dozo.start.StartFailure;
import dozo.start.WorklistSettings;
import dozo.ui.StreamSettings;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.LoggerFactory;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationContextInitializedEvent;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.scheduling.annotation.EnableScheduling;
import picocli.CommandLine;

/** The program. Its first argument says what it does: see {@link Dozo}. */
@SpringBootApplication
@ConfigurationPropertiesScan
@EnableScheduling
public class Application {

    /** All that can be set, in the order of the documentation. */
    static final List<Class<? extends Record>> SETTINGS = List.of(
            Settings.class,
            AdministratorSettings.class,
            PseudonymSettings.class,
            HttpSettings.class,
            StreamSettings.class,
            ScheduleSettings.class,
            CollectSettings.class,
            IngestSettings.class,
            WorklistSettings.class,
            DirectorySettings.class,
            TransferSettings.class,
            ScrubSettings.class,
            RetentionSettings.class,
            RiskSettings.class);

    public static void main(String[] arguments) throws IOException {
        if (arguments.length > 0 && arguments[0].equals("copy")) {
            CopyCommand.main(Arrays.copyOfRange(arguments, 1, arguments.length));
        }
        // Until Spring has read how to log, and in commands that need no Spring, only warnings are told.
        ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.WARN);
        System.exit(commandLine().execute(arguments));
    }

    /** All commands. */
    static CommandLine commandLine() {
        return Dozo.commandLine()
                .addSubcommand(new Serve())
                .addSubcommand(new SettingsCommand())
                .addSubcommand(new Demo(new InProcess()));
    }

    /** The service as the demonstration starts it. */
    private static final class InProcess implements Demo.Service {
        @Override
        public ConfigurableApplicationContext start(Map<String, ?> settings) {
            return Application.start(settings);
        }

        @Override
        public URI address(ConfigurableApplicationContext started) {
            return Application.address(started);
        }
    }

    /**
     * Starts the service in this process and returns when it answers. Close what is returned to stop it.
     *
     * @param properties settings that win over configuration files, environment and system properties
     * @throws RuntimeException when it cannot start; {@link StartFailure#of} says what is to be told of it
     */
    public static ConfigurableApplicationContext start(Map<String, ?> properties) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setBannerMode(Banner.Mode.OFF);
        // Before anything else: Java is told what to do by the settings too, and the log where to go.
        ApplicationListener<ApplicationEnvironmentPreparedEvent> first =
                event -> event.getEnvironment().getPropertySources().addFirst(given(properties));
        ApplicationListener<ApplicationContextInitializedEvent> early =
                event -> check(event.getApplicationContext().getEnvironment());
        application.addListeners(first, early);
        return application.run();
    }

    private static MapPropertySource given(Map<String, ?> properties) {
        return new MapPropertySource("given by the program", new HashMap<>(properties));
    }

    /** Refuses wrong settings, and tells Spring what ours mean in its own words. */
    private static void check(ConfigurableEnvironment environment) {
        new Given(environment, SETTINGS).check();
        HttpSettings http = Binder.get(environment).bindOrCreate("dozo.http", HttpSettings.class);
        environment
                .getPropertySources()
                .addLast(new MapPropertySource(
                        "dozo.http", Map.of("server.address", http.address(), "server.port", http.port())));
    }

    /** The address at which a running service answers, for people and programs on this machine. */
    public static URI address(ConfigurableApplicationContext service) {
        Environment settings = service.getEnvironment();
        String host = settings.getRequiredProperty("server.address");
        boolean anywhere = host.equals("0.0.0.0") || host.equals("::");
        return URI.create("http://%s:%s/"
                .formatted(
                        anywhere ? "127.0.0.1" : host.contains(":") ? "[" + host + "]" : host,
                        settings.getRequiredProperty("local.server.port")));
    }
}
