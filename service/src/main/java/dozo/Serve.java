package dozo;

import dozo.command.Exit;
import dozo.start.StartFailure;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Runs the service until it is told to stop. */
@Command(
        name = "serve",
        mixinStandardHelpOptions = true,
        description = "Runs the service: pages, REST and the nightly backup, until it is stopped.",
        footer = {
            "",
            "Settings come from the environment:",
            "  DOZO_WORK           folder for state and the administrator's password (./dozo-work)",
            "  DOZO_HTTP_ADDRESS   where it listens (127.0.0.1)",
            "  DOZO_HTTP_PORT      and on which port (8080)",
            "  DOZO_DB_URL         jdbc:postgresql://…; without it an embedded PostgreSQL is used",
            "  DOZO_DB_USER, DOZO_DB_PASSWORD or DOZO_DB_PASSWORD_FILE",
            "  DOZO_ADMIN_PASSWORD_FILE   the password of the user admin; without it one is made",
            "  DOZO_HTTP_TLS_PROXY   addresses of the proxies with TLS that stand before it",
            "  DOZO_LDAP_URL and more   users of an LDAP directory, see docs/reference/configuration.md",
            "  DOZO_SCHEDULE_CRON, DOZO_SCHEDULE_ZONE   when the nightly backup starts (0 0 1 * * *); - is never"
        })
final class Serve implements Callable<Integer> {

    private static final Logger LOG = LoggerFactory.getLogger(Serve.class);

    @Spec
    private @org.jspecify.annotations.Nullable CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        try {
            ConfigurableApplicationContext service = Application.start(Map.of());
            LOG.info("Dozo answers at {}", Application.address(service));
            CountDownLatch closed = new CountDownLatch(1);
            ApplicationListener<ContextClosedEvent> atClose = event -> closed.countDown();
            service.addApplicationListener(atClose);
            closed.await();
            // A signal ends the process with its own code; else the service has closed itself, see Watch.
            return Exit.UNAVAILABLE;
        } catch (RuntimeException e) {
            Optional<StartFailure> failure = StartFailure.of(e);
            failure.ifPresent(known -> java.util.Objects.requireNonNull(spec)
                    .commandLine()
                    .getErr()
                    .println("dozo: " + known.message()));
            return failure.map(StartFailure::exitCode).orElse(Exit.DEFECT);
        }
    }
}
