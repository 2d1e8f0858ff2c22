package dozo.run;

import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.batch.autoconfigure.BatchTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.stereotype.Component;

/** Starts jobs and their restarts without keeping the caller waiting, and knows whether one is still going on. */
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
            return () -> {
                try {
                    job.run();
                } finally {
                    going.decrementAndGet();
                }
            };
        });
    }

    /** Whether no job is going on in this process. */
    boolean idle() {
        return going.get() == 0;
    }
}
