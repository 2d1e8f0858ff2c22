package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.dao.DataAccessResourceFailureException;

/** Whatever ends a run has a name, however deep it is wrapped; only a defect is called one. */
class RunEndTest {

    @Test
    void everyEndOfARunHasAName() {
        Map<Throwable, String> reasons = new LinkedHashMap<>();
        reasons.put(new RemoteException(Reason.LOST, "the connection to dr was lost"), "the connection to dr was lost");
        reasons.put(
                new DataAccessResourceFailureException("x", new SQLException("no room")),
                "the database failed: no room");
        reasons.put(
                new UncheckedIOException(new IOException("No space left on device")),
                "a file on this machine could not be read or written: java.io.IOException: No space left on device");
        reasons.put(new OutOfMemoryError("heap"), "out of memory: give this process a larger heap (DOZO_HEAP)");
        reasons.put(new InterruptedException(), "the work was interrupted");
        reasons.put(new JobInterruptedException("asked"), "the work was interrupted");
        reasons.put(new NullPointerException("k"), "a defect in Dozo: java.lang.NullPointerException: k; send the log");

        reasons.forEach((failure, reason) -> {
            assertThat(RunEnd.reason(failure)).startsWith(reason);
            if (!(failure instanceof JobInterruptedException || failure instanceof NullPointerException)) {
                assertThat(RunEnd.reason(new IllegalStateException("step", failure)))
                        .startsWith(reason);
            }
        });
        assertThat(RunEnd.reason(null)).startsWith("the work was interrupted");
    }
}
