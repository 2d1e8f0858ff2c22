package dozo.start;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Stops the service when another one has taken its database over while the connection was lost. */
@Component
class Watch {

    private static final Logger LOG = LoggerFactory.getLogger(Watch.class);

    private final Database database;
    private final ConfigurableApplicationContext service;

    Watch(Database database, ConfigurableApplicationContext service) {
        this.database = database;
        this.service = service;
    }

    @Scheduled(initialDelay = 30_000, fixedDelay = 30_000)
    void look() {
        if (!database.soleUse().keep()) {
            LOG.error("another Dozo works on this database now; this one stops");
            Thread.ofPlatform().name("stop").start(service::close);
        }
    }
}
