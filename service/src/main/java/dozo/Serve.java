package dozo;

import dozo.command.Exit;
import dozo.command.Failure;
import dozo.db.ActiveService;
import dozo.security.Administrator;
import dozo.start.Readiness;
import dozo.start.StartFailure;
import dozo.start.StartProgress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Unmatched;

/** Runs the service until it is stopped. */
@Command(
        name = "serve",
        mixinStandardHelpOptions = true,
        description = "Runs the service: pages, REST and the nightly backup, until it is stopped.",
        footer = {
            "",
            "Settings come from the environment; dozo settings lists them. The most important ones:",
            "  DOZO_WORK           folder for state and the administrator's password (./dozo-work)",
            "  DOZO_HTTP_ADDRESS   the address to listen on (127.0.0.1)",
            "  DOZO_HTTP_PORT      the port to listen on (8080)",
            "  DOZO_DB_URL         jdbc:postgresql://…; without it an embedded PostgreSQL is used",
            "  DOZO_DB_USER, DOZO_DB_PASSWORD_FILE"
        })
final class Serve implements Callable<Integer> {

    private static final Logger LOG = LoggerFactory.getLogger(Serve.class);

    /** Used by the launcher's build. */
    @Option(names = ServiceRehearsal.OPTION, hidden = true)
    private @org.jspecify.annotations.Nullable Path rehearsal;

    /** The program that rehearses commands with the service. */
    @Option(names = ServiceRehearsal.CLIENT, hidden = true)
    private List<String> client = List.of();

    /** NB: never print these arguments, they may be secrets. */
    @Unmatched
    private List<String> others = List.of();

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (!others.isEmpty()) {
            throw new Failure(
                    Exit.USAGE,
                    "serve accepts no settings as arguments, because other users can read them: use environment"
                            + " variables, and files for secrets; dozo settings lists them");
        }
        try {
            if (rehearsal != null) {
                ServiceRehearsal.in(rehearsal, client);
                return Exit.WELL;
            }
            while (isLost()) {
                LOG.warn("this service starts again, to stand by");
            }
            // A signal ends the process with its own exit code. Here the service has closed itself, see Watch.
            return Exit.UNAVAILABLE;
        } catch (RuntimeException e) {
            if (StartFailure.of(e).isPresent()) {
                throw e;
            }
            // Spring has logged it.
            return Exit.DEFECT;
        }
    }

    /**
     * Runs a service until it has closed itself. Nothing that it knew of its runs is left then (ADR 0081). NB: no method
     * has a type of the database's room in its signature: manual and completions are written without that room.
     *
     * @return whether it has closed itself because another one has taken over
     */
    private static boolean isLost() throws InterruptedException {
        SpringApplication program = new SpringApplication(Application.class);
        program.addListeners(new StartProgress());
        ConfigurableApplicationContext service = Application.start(program, Map.of());
        ActiveService active = service.getBean(ActiveService.class);
        Administrator administrator = service.getBean(Administrator.class);
        LOG.info("Dozo listens at {}", Application.address(service));
        Readiness.report();
        if (active.isHere()) {
            LOG.info("log in as {} with the password in {}", administrator.name(), administrator.passwordFile());
        }
        CountDownLatch closed = new CountDownLatch(1);
        ApplicationListener<ContextClosedEvent> atClose = event -> closed.countDown();
        service.addApplicationListener(atClose);
        if (service.isActive()) {
            closed.await();
        }
        // NB: a second call of close returns while the first one waits for something.
        active.awaitEnd();
        return active.isLost();
    }
}
