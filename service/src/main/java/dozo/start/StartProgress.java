package dozo.start;

import java.time.Duration;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.event.ApplicationContextInitializedEvent;
import org.springframework.boot.context.event.ApplicationFailedEvent;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.event.SpringApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;

/** Logs how far a slow start is, so that nobody waits for longer than 4 s without a line. */
public final class StartProgress implements ApplicationListener<SpringApplicationEvent> {

    private static final Duration QUIET_MAX = Duration.ofSeconds(4);

    private static final Logger LOG = LoggerFactory.getLogger(StartProgress.class);

    private volatile @Nullable Thread logging;

    @Override
    public void onApplicationEvent(SpringApplicationEvent event) {
        if (event instanceof ApplicationContextInitializedEvent initialized) {
            ConfigurableApplicationContext starting = initialized.getApplicationContext();
            logging = Thread.ofVirtual().name("start-progress").start(() -> log(starting));
        } else if (event instanceof ApplicationReadyEvent || event instanceof ApplicationFailedEvent) {
            Thread running = logging;
            if (running != null) {
                running.interrupt();
            }
        }
    }

    private static void log(ConfigurableApplicationContext starting) {
        long begun = System.nanoTime();
        try {
            while (true) {
                Thread.sleep(QUIET_MAX);
                ConfigurableListableBeanFactory components = starting.getBeanFactory();
                String[] names = components.getBeanDefinitionNames();
                LOG.info(
                        "starting for {} s: {} of {} components are ready",
                        Duration.ofNanos(System.nanoTime() - begun).toSeconds(),
                        Stream.of(names).filter(components::containsSingleton).count(),
                        names.length);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
