package dozo;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dozo.archive.ArchiveSettings;
import dozo.backup.BackupSettings;
import dozo.broker.BrokerSettings;
import dozo.collect.CollectSettings;
import dozo.command.CopyCommand;
import dozo.command.Dozo;
import dozo.command.Failure;
import dozo.command.Usage;
import dozo.commitment.CommitmentSettings;
import dozo.demo.Demo;
import dozo.drill.DrillSettings;
import dozo.drill.ServiceProgram;
import dozo.manifest.IngestSettings;
import dozo.message.MailSettings;
import dozo.message.WebhookSettings;
import dozo.record.RecoverySettings;
import dozo.registry.ErasureSettings;
import dozo.registry.RegistrationSettings;
import dozo.registry.RiskSettings;
import dozo.restore.PictureSettings;
import dozo.run.RetentionSettings;
import dozo.run.ScrubSettings;
import dozo.run.TransferSettings;
import dozo.schedule.ScheduleSettings;
import dozo.security.AdministratorSettings;
import dozo.security.DirectorySettings;
import dozo.security.OidcSettings;
import dozo.security.OwnTls;
import dozo.start.Given;
import dozo.start.HttpSettings;
import dozo.start.JournalAppender;
import dozo.start.LogSettings;
import dozo.start.PseudonymSettings;
import dozo.start.Settings;
import dozo.start.StartFailure;
import dozo.start.WitnessSettings;
import dozo.start.WorklistSettings;
import dozo.ui.StreamSettings;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.slf4j.LoggerFactory;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.boot.context.event.ApplicationContextInitializedEvent;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.scheduling.annotation.EnableScheduling;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** The program. Its first argument is the command: see {@link Dozo}. */
@SpringBootApplication
@ConfigurationPropertiesScan
@EnableScheduling
public class Application {

    /** All settings, in the order of the documentation. */
    static final List<Class<? extends Record>> SETTINGS = List.of(
            Settings.class,
            AdministratorSettings.class,
            PseudonymSettings.class,
            HttpSettings.class,
            LogSettings.class,
            StreamSettings.class,
            ScheduleSettings.class,
            BackupSettings.class,
            CollectSettings.class,
            ArchiveSettings.class,
            IngestSettings.class,
            WorklistSettings.class,
            CommitmentSettings.class,
            MailSettings.class,
            WebhookSettings.class,
            DirectorySettings.class,
            OidcSettings.class,
            TransferSettings.class,
            BrokerSettings.class,
            ScrubSettings.class,
            DrillSettings.class,
            RetentionSettings.class,
            ErasureSettings.class,
            RecoverySettings.class,
            PictureSettings.class,
            RiskSettings.class,
            RegistrationSettings.class,
            WitnessSettings.class);

    /**
     * The commands that need Spring or the database in this process. The launcher starts all others from a cache of
     * their own, see {@link CommandRehearsal}.
     */
    static final SortedMap<String, Class<?>> WITH_SPRING = new TreeMap<>(Map.ofEntries(
            Map.entry("backup", BackupCommand.class),
            Map.entry("demo", Demo.class),
            Map.entry("doctor", DoctorCommand.class),
            Map.entry("identity", IdentityCommand.class),
            Map.entry("rebuild-catalogue", RebuildCommand.class),
            Map.entry("restore-service", BackupCommand.Restore.class),
            Map.entry("serve", Serve.class),
            Map.entry("settings", SettingsCommand.class),
            Map.entry("upgrade-database", UpgradeCommand.class),
            Map.entry("worker", WorkerCommand.class)));

    /** The options with which another process of this program starts as quickly. */
    private static final List<String> CHILD_OPTIONS = List.of(
            "-XX:AOTCache=", "-XX:+Use", "-XX:TieredStopAtLevel=", "--enable-native-access=", "--sun-misc-unsafe");

    /** Lets the service start a command of this program in another process. */
    @Bean
    static ServiceProgram program() {
        return new ServiceProgram(
                Application.class,
                ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                        .filter(option -> CHILD_OPTIONS.stream().anyMatch(option::startsWith))
                        .toList());
    }

    public static void main(String[] arguments) throws IOException {
        String first = arguments.length == 0 ? "" : arguments[0];
        if (first.equals("copy")) {
            CopyCommand.main(Arrays.copyOfRange(arguments, 1, arguments.length));
        }
        if (WITH_SPRING.containsKey(first)) {
            // Log only warnings until Spring has read the log settings. The doctor finds what would be logged.
            ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME))
                    .setLevel(first.equals("doctor") ? Level.OFF : Level.WARN);
        } else {
            CopyCommand.startNoLogger();
        }
        if (first.equals(CommandRehearsal.ARGUMENT)) {
            System.exit(CommandRehearsal.in(Path.of(arguments[1])));
        }
        if (first.equals(ReferencePages.ARGUMENT)) {
            System.exit(ReferencePages.in(Path.of(arguments[1])));
        }
        System.exit(commandLine(arguments).execute(arguments));
    }

    /** Returns the command line with all commands. */
    static CommandLine commandLine() {
        return commandLine(_ -> true);
    }

    /** Returns a command line that may be used for these arguments only. */
    static CommandLine commandLine(String... arguments) {
        List<String> words = List.of(arguments);
        // Picocli replaces a word such as @file by the file's content.
        boolean any = words.contains("completion")
                || words.contains("man")
                || words.stream().anyMatch(word -> word.startsWith("@"));
        // The command is the first word, or that after help. Any other word may be somebody's own name.
        int last = words.isEmpty() || !words.getFirst().equals("help") ? 1 : 2;
        return commandLine(name -> any || words.stream().limit(last).anyMatch(name::equals));
    }

    private static CommandLine commandLine(Predicate<String> isNeeded) {
        CommandLine all = Usage.complete(Dozo.commandLine(WITH_SPRING.values(), new Instances(), isNeeded));
        IExecutionExceptionHandler others = all.getExecutionExceptionHandler();
        return all.setExecutionExceptionHandler(
                (failure, command, parsed) -> others.handleExecutionException(known(failure, parsed), command, parsed));
    }

    /** Returns the reason in one line if a command with Spring cannot start; otherwise the failure itself. */
    private static Exception known(Exception failure, ParseResult parsed) {
        return failure instanceof RuntimeException
                        && parsed.hasSubcommand()
                        && WITH_SPRING.containsKey(
                                parsed.subcommand().commandSpec().name())
                ? StartFailure.of(failure)
                        .<Exception>map(start -> new Failure(start.exitCode(), start.message()))
                        .orElse(failure)
                : failure;
    }

    /** Creates commands. */
    private static final class Instances implements CommandLine.IFactory {
        @Override
        public <T> T create(Class<T> type) throws Exception {
            return type == Demo.class
                    ? type.cast(new Demo(Application::start, Application::address))
                    : CommandLine.defaultFactory().create(type);
        }
    }

    /**
     * Starts the service in this process and returns when it answers. Close the result to stop the service.
     *
     * @param properties settings that override configuration files, environment and system properties
     * @throws RuntimeException if the service cannot start; {@link StartFailure#of} gives the message
     */
    public static ConfigurableApplicationContext start(Map<String, ?> properties) {
        return start(new SpringApplication(Application.class), properties);
    }

    /** Returns the settings that a service would have here, from files and environment; starts nothing. */
    static Given settings() {
        StandardEnvironment environment = new StandardEnvironment();
        ConfigDataEnvironmentPostProcessor.applyTo(environment);
        return new Given(environment, SETTINGS);
    }

    /** Starts what an application has, with the settings of the service. */
    static ConfigurableApplicationContext start(SpringApplication application, Map<String, ?> properties) {
        application.setBannerMode(Banner.Mode.OFF);
        // These listeners come first, because the settings also configure Java and the log.
        ApplicationListener<ApplicationEnvironmentPreparedEvent> first =
                event -> event.getEnvironment().getPropertySources().addFirst(given(properties));
        ApplicationListener<ApplicationContextInitializedEvent> early = event -> check(event.getApplicationContext());
        application.addListeners(first, early);
        return application.run();
    }

    private static MapPropertySource given(Map<String, ?> properties) {
        return new MapPropertySource("given by the program", new HashMap<>(properties));
    }

    /** Refuses wrong settings, sets Spring's properties from Dozo's, and has beans ask for the settings in force. */
    private static void check(ConfigurableApplicationContext program) {
        ConfigurableEnvironment environment = program.getEnvironment();
        Given given = new Given(environment, SETTINGS);
        given.check();
        if (environment.getProperty("dozo.log.format", "text").equals("text")) {
            JournalAppender.install();
        }
        program.getBeanFactory().registerSingleton("given", given);
        HttpSettings http = Binder.get(environment).bindOrCreate("dozo.http", HttpSettings.class);
        Map<String, Object> server =
                new HashMap<>(Map.of("server.address", http.address(), "server.port", http.port()));
        if (http.isTls()) {
            server.put("server.ssl.bundle", OwnTls.BUNDLE);
        }
        environment.getPropertySources().addLast(new MapPropertySource("dozo.http", server));
    }

    /** Returns the address of a running service for clients on this machine. */
    public static URI address(ConfigurableApplicationContext service) {
        Environment settings = service.getEnvironment();
        String host = settings.getRequiredProperty("server.address");
        boolean anywhere = host.equals("0.0.0.0") || host.equals("::");
        return URI.create("%s://%s:%s/"
                .formatted(
                        settings.containsProperty("server.ssl.bundle") ? "https" : "http",
                        anywhere ? "127.0.0.1" : host.contains(":") ? "[" + host + "]" : host,
                        settings.getRequiredProperty("local.server.port")));
    }
}
