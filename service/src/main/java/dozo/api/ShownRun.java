package dozo.api;

import dozo.ledger.Sight;
import dozo.registry.Part;
import dozo.run.Limits;
import dozo.run.Limits.Bottleneck;
import dozo.run.Operations;
import dozo.run.Retries;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.run.Scrubs;
import dozo.run.Scrubs.Scrub;
import dozo.transfer.RunWorkers;
import dozo.transfer.RunWorkers.RunWorker;
import dozo.transfer.TransferUnits.Progress;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;

/**
 * A run and its progress.
 *
 * @param message why it failed, or what it waits for
 * @param findings the number of findings so far, 1001: more than 1,000
 * @param pausedBy missing: it is not paused
 * @param stoppedBy who requested the stop; missing: nobody
 * @param underWay whether the service is working on it now; a paused run finishes its units under way
 * @param retryOf the run whose findings it retries; missing: it is not a retry
 * @param retry the experiments of a retry; missing for users who see only some projects
 * @param chosen the experiments of a backup of chosen ones, of those that the user sees; missing: it is none
 * @param from the site that a replication reads; missing: it is not a replication
 * @param replication the experiments of a replication; missing for users who see only some projects
 * @param project the only project whose experiments a night has; missing: it has those of all, or the user does not see it
 * @param origin the only origin whose experiments a night has; missing: it has those from anywhere, or the user sees only some
 *     projects
 * @param bottlenecks what slowed it, the longest first; empty if no units were under way, or for users who see only some
 *     projects
 * @param workers the workers on other machines that have joined, the first first; empty for users who see only some projects
 * @param scrub the options and progress of a scrub; missing for users who see only some projects
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
        @Nullable Extent retry,
        @Nullable Extent chosen,
        @Nullable String from,
        @Nullable Extent replication,
        @Nullable String project,
        @Nullable String origin,
        List<Bottleneck> bottlenecks,
        List<RunWorker> workers,
        @Nullable ShownScrub scrub) {

    /** Returns the run itself. */
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
                retryOf,
                from,
                new Part(project, origin));
    }

    /** The extent of a retry, chosen backup or replication. */
    public record Extent(long experiments) {}

    /**
     * A scrub.
     *
     * @param dueBefore copies whose last reading is older than this are read
     * @param limit bytes a second; missing: unlimited
     * @param until when it ends; missing: when everything due is read
     * @param copiesRead files, folders and links read so far
     * @param copiesDamaged copies found damaged so far
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

    /** Returns runs in REST's form, in their present state. */
    @Component
    record View(Runs runs, Retries retries, Scrubs scrubs, Limits limits, RunWorkers workers, Operations operations) {

        /** Answers that a run has been accepted, and where to follow it. */
        ResponseEntity<ShownRun> accepted(Sight sight, Run run) {
            return ResponseEntity.accepted()
                    .location(URI.create("/api/v1/runs/" + run.id()))
                    .body(of(sight, run));
        }

        /** Returns a run with the progress that the user may see. */
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
                    sight.ofEverything() && run.retryOf() != null ? extent(sight, run) : null,
                    run.kind() == RunKind.CHOSEN ? extent(sight, run) : null,
                    run.from(),
                    sight.ofEverything() && run.from() != null ? extent(sight, run) : null,
                    run.part().project(),
                    run.part().origin(),
                    sight.ofEverything() ? limits.of(run.id()) : List.of(),
                    sight.ofEverything() ? workers.of(run.id()) : List.of(),
                    sight.ofEverything()
                            ? scrubs.find(run.id()).map(ShownScrub::of).orElse(null)
                            : null);
        }

        private Extent extent(Sight sight, Run run) {
            return new Extent(retries.count(sight, run.id()));
        }
    }
}
