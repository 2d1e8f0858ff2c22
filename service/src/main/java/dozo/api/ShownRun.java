package dozo.api;

import dozo.ledger.Sight;
import dozo.run.Operations;
import dozo.run.Retries;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.run.Scrubs;
import dozo.run.Scrubs.Scrub;
import dozo.transfer.TransferUnits.Progress;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * A run and how far it is.
 *
 * @param findings how many there are so far; 1001 stands for more than 1,000
 * @param pausedBy missing unless it is paused
 * @param stoppedBy who asked for it to stop; missing where nobody did
 * @param underWay whether this process works on it; a paused run finishes what it had begun
 * @param retryOf the run whose findings it tries again; missing where it is no retry
 * @param retry how many experiments a retry goes through; missing where not everything is seen
 * @param scrub what a scrub was asked for and has read; missing in a nightly backup, and where not everything is seen: it is
 *     not known by project
 */
public record ShownRun(
        long id,
        RunKind kind,
        String site,
        RunState state,
        String requestedBy,
        Instant startedAt,
        @Nullable Instant endedAt,
        String message,
        long findings,
        @Nullable String pausedBy,
        @Nullable Instant pausedAt,
        @Nullable String stoppedBy,
        boolean underWay,
        @Nullable Long retryOf,
        Progress progress,
        @Nullable ShownRetry retry,
        @Nullable ShownScrub scrub) {

    /** The run itself. */
    public Run run() {
        return new Run(
                id,
                kind,
                site,
                0,
                state,
                requestedBy,
                startedAt,
                endedAt,
                message,
                findings,
                pausedBy,
                pausedAt,
                stoppedBy,
                retryOf);
    }

    /** What a retry goes through. */
    public record ShownRetry(long experiments) {}

    /**
     * A scrub.
     *
     * @param dueBefore what was last read before this is read
     * @param limit bytes a second; missing: none
     * @param until when it begins no more
     * @param copiesRead files, folders and links so far
     */
    public record ShownScrub(
            long maxAgeSeconds,
            boolean all,
            Instant dueBefore,
            @Nullable Long limit,
            @Nullable Instant until,
            boolean cold,
            long copiesRead,
            long bytesRead,
            long copiesDamaged) {

        static ShownScrub of(Scrub scrub) {
            return new ShownScrub(
                    scrub.maxAge().toSeconds(),
                    scrub.everything(),
                    scrub.dueBefore(),
                    scrub.bytesPerSecond() == 0 ? null : scrub.bytesPerSecond(),
                    scrub.until(),
                    scrub.cold(),
                    scrub.copiesRead(),
                    scrub.bytesRead(),
                    scrub.copiesDamaged());
        }
    }

    /** Shows runs as they are now. */
    @Component
    static final class View {

        private final Runs runs;
        private final Retries retries;
        private final Scrubs scrubs;
        private final Operations operations;

        View(Runs runs, Retries retries, Scrubs scrubs, Operations operations) {
            this.runs = runs;
            this.retries = retries;
            this.scrubs = scrubs;
            this.operations = operations;
        }

        /** With that of the progress which is seen. */
        ShownRun of(Sight sight, Run run) {
            return new ShownRun(
                    run.id(),
                    run.kind(),
                    run.site(),
                    run.state(),
                    run.requestedBy(),
                    run.startedAt(),
                    run.endedAt(),
                    run.message(),
                    run.findings(),
                    run.pausedBy(),
                    run.pausedAt(),
                    run.stoppedBy(),
                    operations.worksOn(run),
                    run.retryOf(),
                    runs.progress(sight, run.id()),
                    sight.ofEverything() && run.retryOf() != null ? new ShownRetry(retries.count(run.id())) : null,
                    sight.ofEverything()
                            ? scrubs.find(run.id()).map(ShownScrub::of).orElse(null)
                            : null);
        }
    }
}
