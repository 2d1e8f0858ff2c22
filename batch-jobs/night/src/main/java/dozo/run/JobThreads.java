package dozo.run;

import dozo.db.LostDatabase;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.batch.autoconfigure.BatchTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.stereotype.Component;

/** Starts jobs and their restarts without blocking the caller, and knows whether one is running. */
@Component
@BatchTaskExecutor
class JobThreads extends SimpleAsyncTaskExecutor {

    private static final long serialVersionUID = 1L;

    private final AtomicInteger going = new AtomicInteger();

    JobThreads() {
        super("run-");
        setVirtualThreads(true);
        setTaskDecorator(job -> {
            // Counted from here, not from the thread's start: in between, the job would look abandoned.
            going.incrementAndGet();
            return LogFields.inherited(() -> {
                try {
                    job.run();
                } catch (RuntimeException e) {
                    // Without its database a job cannot record its own end, either. Its run is continued when the
                    // database answers.
                    if (!LostDatabase.isBehind(e)) {
                        throw e;
                    }
                } finally {
                    going.decrementAndGet();
                }
            });
        });
    }

    boolean idle() {
        return going.get() == 0;
    }
}
