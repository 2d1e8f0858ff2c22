package dozo.start;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/**
 * Captures everything that is logged from now on. NB: a service that starts configures logging anew, which ends the
 * capture.
 */
final class CapturedLog implements AutoCloseable {

    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    CapturedLog() {
        appender.list = new CopyOnWriteArrayList<>();
        appender.start();
        root().addAppender(appender);
    }

    List<ILoggingEvent> events() {
        return appender.list;
    }

    long count(String words) {
        return appender.list.stream()
                .filter(event -> event.getFormattedMessage().contains(words))
                .count();
    }

    @Override
    public void close() {
        root().detachAppender(appender);
    }

    private static Logger root() {
        return (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    }
}
