package dozo.start;

import dozo.db.LostDatabase;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.EnumSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.task.ThreadPoolTaskSchedulerCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;

/**
 * Reacts to the state of the database. Stops the service when another service has taken the database or it cannot be
 * used any more. Ends all waits for the database while the service stops.
 */
@Configuration
class Watch {

    private static final Logger LOG = LoggerFactory.getLogger(Watch.class);

    private final Presence presence;

    Watch(Database database, ConfigurableApplicationContext service) {
        presence = database.presence();
        presence.whenOver(reason -> Thread.ofPlatform().name("stop").start(service::close));
    }

    @EventListener(ContextClosedEvent.class)
    void leave() {
        presence.leave();
    }

    /** Marks the threads of requests. Comes before all other filters, because they use the database too. */
    @Bean
    static FilterRegistrationBean<Filter> requestsHaveTheirConnections() {
        FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> {
            Pools.servesRequest(true);
            try {
                chain.doFilter(request, response);
            } finally {
                Pools.servesRequest(false);
            }
        });
        filter.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
        filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
        return filter;
    }

    /** Lets schedules continue after a failure. A lost database is already in the log. */
    @Bean
    static ThreadPoolTaskSchedulerCustomizer schedulesOutliveTheirFailures() {
        return scheduler -> scheduler.setErrorHandler(failure -> {
            if (LostDatabase.isBehind(failure)) {
                LOG.debug("a schedule lost the database", failure);
            } else {
                LOG.error("a schedule failed; it continues", failure);
            }
        });
    }
}
