package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.TransactionSystemException;

/** Jobs that end by a failure. */
class JobThreadsTest {

    private final JobThreads threads = new JobThreads();
    private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
    private Thread.@Nullable UncaughtExceptionHandler before;

    @BeforeEach
    void listen() {
        before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            if (thread.getName().startsWith("run-")) {
                uncaught.add(failure);
            }
        });
    }

    @AfterEach
    void leave() {
        Thread.setDefaultUncaughtExceptionHandler(before);
    }

    @Test
    void oneThatLosesItsDatabaseEndsWithoutATraceAndAnyOtherWithOne() {
        RuntimeException defect = new IllegalStateException("a defect");
        threads.execute(() -> {
            throw new TransactionSystemException("JDBC rollback failed", new SQLException("Connection is closed"));
        });
        await().dontCatchUncaughtExceptions().until(threads::idle);
        threads.execute(() -> {
            throw defect;
        });

        await().dontCatchUncaughtExceptions().until(() -> !uncaught.isEmpty());
        assertThat(threads.idle()).isTrue();
        assertThat(uncaught).containsExactly(defect);
    }
}
