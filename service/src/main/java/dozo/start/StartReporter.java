package dozo.start;

import org.springframework.boot.SpringBootExceptionReporter;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Keeps stack traces out of the log for failures that {@link StartFailure} describes in one line. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class StartReporter implements SpringBootExceptionReporter {

    @Override
    public boolean reportException(Throwable failure) {
        return StartFailure.of(failure).isPresent();
    }
}
