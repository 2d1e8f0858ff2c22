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
 * What the service does about its database: it stops when another service has taken it over or it cannot be had any more, and
 * nobody waits for it while the service is stopping.
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

    /** Before all others: they ask the database too. */
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

    /** What is done from time to time is done again: that the database was lost meanwhile is in the log already. */
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
