package dozo.run;

import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.batch.core.scope.context.ChunkContext;
import org.springframework.batch.core.step.StepContribution;
import org.springframework.batch.core.step.StepExecution;
import org.springframework.batch.core.step.tasklet.Tasklet;
import org.springframework.batch.infrastructure.repeat.RepeatStatus;
import org.springframework.stereotype.Component;

/**
 * Collects piece by piece until nothing is left, or the time limit is over; at the end of the night, checks origins in the same way. A request to stop interrupts the current
 * piece, because it may be a terabyte; a restart continues from what has arrived.
 *
 * <p>NB: this is not a {@code StoppableTasklet}. The framework would write the state of such a step concurrently with
 * the step. On a conflict it keeps the step's id in a static map for good, and a step with the same id in another
 * context stops at once.
 */
@Component
class CollectStep implements Tasklet {

    private final @Nullable Collecting collecting;
    private final @Nullable Rechecking rechecking;
    private final Replications replications;
    private final NightFlows flows;
    private final InstantSource clock;
    private volatile @Nullable FutureTask<Boolean> underWay;

    CollectStep(
            Optional<Collecting> collecting,
            Optional<Rechecking> rechecking,
            Replications replications,
            NightFlows flows,
            InstantSource clock) {
        this.collecting = collecting.orElse(null);
        this.rechecking = rechecking.orElse(null);
        this.replications = replications;
        this.flows = flows;
        this.clock = clock;
    }

    @Override
    public RepeatStatus execute(StepContribution contribution, ChunkContext chunk) throws Exception {
        StepExecution step = contribution.getStepExecution();
        long run = NightlyBackupJob.run(step);
        if (collecting == null || replications.source(run).isPresent()) {
            return RepeatStatus.FINISHED;
        }
        long left = began(step).plus(collecting.limit()).toEpochMilli() - clock.millis();
        try {
            boolean more = piece(() -> collecting.next(run), flows.early(run, NightlyBackupJob.site(step)), left);
            contribution.incrementWriteCount(1);
            return RepeatStatus.continueIf(more);
        } catch (TimeoutException e) {
            collecting.timeIsOver(run);
            return RepeatStatus.FINISHED;
        } catch (CancellationException e) {
            // The framework checks for a stop before the next call; if it does call again, the piece is repeated.
            return RepeatStatus.CONTINUABLE;
        }
    }

    /** Checks origins, in the same way: what was delivered is of no concern to a retry or a replication. */
    RepeatStatus check(StepContribution contribution, ChunkContext chunk) throws Exception {
        StepExecution step = contribution.getStepExecution();
        long run = NightlyBackupJob.run(step);
        if (rechecking == null || rechecking.limit().isZero()) {
            return RepeatStatus.FINISHED;
        }
        try {
            piece(
                    () -> {
                        rechecking.check(run);
                        return false;
                    },
                    flows.early(run, NightlyBackupJob.site(step)),
                    rechecking.limit().toMillis());
        } catch (TimeoutException e) {
            // What is left is due in the next night.
        } catch (CancellationException e) {
            return RepeatStatus.CONTINUABLE;
        }
        rechecking.conclude(run);
        return RepeatStatus.FINISHED;
    }

    /**
     * Interrupts the current piece, if there is one. The framework must have been told to stop before, and the run's flow
     * too, so that no piece begins now.
     */
    void interrupt() {
        FutureTask<Boolean> piece = underWay;
        if (piece != null) {
            piece.cancel(true);
        }
    }

    /** Runs one piece; when it returns or throws, nothing writes any longer. */
    private boolean piece(Callable<Boolean> work, NightFlow flow, long millis) throws Exception {
        FutureTask<Boolean> piece = new FutureTask<>(work);
        Thread thread = Thread.ofVirtual().name("collect-" + flow.run()).unstarted(piece);
        underWay = piece;
        // NB: afterwards. A request to stop that found no piece was told to the flow before.
        if (flow.ends()) {
            piece.cancel(true);
        }
        thread.start();
        try {
            return piece.get(millis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            piece.cancel(true);
            thread.join();
            underWay = null;
        }
    }

    private static Instant began(StepExecution step) {
        return Objects.requireNonNull(step.getStartTime())
                .atZone(ZoneId.systemDefault())
                .toInstant();
    }
}
