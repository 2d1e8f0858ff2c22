package dozo;

import dozo.broker.BrokerSettings;
import dozo.command.Exit;
import dozo.command.Failure;
import dozo.run.Worker;
import dozo.start.Role;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.ContextClosedEvent;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** Runs a worker process until it is stopped (ADR 0080). */
@Command(
        name = "worker",
        mixinStandardHelpOptions = true,
        description = {
            "Helps the service with its backups from another machine, until it is stopped.",
            "",
            "A worker joins each backup: it reads sources, sends, and settles. It needs the database of the service, the"
                    + " sources at the same paths, the keys for the sites at the same paths, and the same version of Dozo."
                    + " What it cannot read is left to the service."
        },
        footer = {
            "",
            "Settings come from the environment, as those of the service; dozo settings lists them. The most important ones:",
            "  DOZO_DB_URL         jdbc:postgresql://…; the database of the service",
            "  DOZO_DB_USER, DOZO_DB_PASSWORD_FILE",
            "  DOZO_BROKER_URL     amqp://…; without it the worker looks for work every 15 s",
            "  DOZO_BROKER_USER, DOZO_BROKER_PASSWORD_FILE",
            "  DOZO_WORK           folder with a copy of the service's site-key, if sites use that key"
        })
final class WorkerCommand implements Callable<Integer> {

    private static final Logger LOG = LoggerFactory.getLogger(WorkerCommand.class);

    /** NB: never print these arguments, they may be secrets. */
    @Unmatched
    private List<String> others = List.of();

    /** What a worker needs of the program: nothing that serves people, starts runs or deletes. */
    @EngineRooms(and = BrokerSettings.class)
    static class Rooms {

        @Bean
        Role role() {
            return Role.WORKER;
        }
    }

    @Override
    public Integer call() throws InterruptedException {
        if (!others.isEmpty()) {
            throw new Failure(
                    Exit.USAGE,
                    "worker accepts no settings as arguments, because other users can read them: use environment"
                            + " variables, and files for secrets; dozo settings lists them");
        }
        SpringApplication application = new SpringApplication(Rooms.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        try (ConfigurableApplicationContext rooms = Application.start(application, Map.of())) {
            LOG.info("this worker waits for work");
            Worker worker = rooms.getBean(Worker.class);
            ApplicationListener<ContextClosedEvent> atClose = _ -> worker.leave();
            rooms.addApplicationListener(atClose);
            worker.work();
            // A signal ends the process with its own exit code. Here the worker has ended itself, see Watch.
            return Exit.UNAVAILABLE;
        }
    }
}
