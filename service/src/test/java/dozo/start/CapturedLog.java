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
public final class CapturedLog implements AutoCloseable {

    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    private final Logger logger;

    public CapturedLog() {
        this(Logger.ROOT_LOGGER_NAME);
    }

    /** Captures what a logger and those below it log. */
    public CapturedLog(String name) {
        logger = (Logger) LoggerFactory.getLogger(name);
        appender.list = new CopyOnWriteArrayList<>();
        appender.start();
        logger.addAppender(appender);
    }

    public List<ILoggingEvent> events() {
        return appender.list;
    }

    public List<String> messages() {
        return appender.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    long count(String words) {
        return messages().stream().filter(message -> message.contains(words)).count();
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
    }
}
