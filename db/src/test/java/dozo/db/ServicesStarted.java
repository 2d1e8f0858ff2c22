package dozo.db;

import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/** Lets a test class start only as many services as it declares by {@link StartsServices}. */
public final class ServicesStarted implements TestExecutionListener {

    private static @Nullable Class<?> running;
    private static int count;

    /** Counts a start by the running class. */
    static synchronized void count() {
        if (running == null) {
            return;
        }
        count++;
        StartsServices declared = running.getAnnotation(StartsServices.class);
        int most = declared == null ? 1 : declared.value();
        if (count > most) {
            throw new AssertionError(
                    "%s starts service %d; expected at most %d, as @StartsServices declares (default 1)"
                            .formatted(running.getName(), count, most));
        }
    }

    /** Lets the running class start one more, because it could not give one back to the next test. */
    public static synchronized void allowAnother() {
        count--;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        test.getSource()
                .filter(ClassSource.class::isInstance)
                .ifPresent(source -> enter(((ClassSource) source).getJavaClass()));
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (test.getSource().filter(ClassSource.class::isInstance).isPresent()) {
            enter(null);
        }
    }

    private static synchronized void enter(@Nullable Class<?> entered) {
        running = entered;
        count = 0;
    }
}
