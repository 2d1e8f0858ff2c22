package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.manifest.IngestSettings;
import dozo.manifest.Manifests;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.run.Scrubs.Read;
import dozo.run.Scrubs.Scrub;
import dozo.send.HomeReader;
import dozo.send.HomeReader.Seen;
import dozo.verify.HomeReadings;
import dozo.verify.HomeReadings.AtSite;
import dozo.verify.HomeReadings.Batch;
import dozo.verify.HomeReadings.Due;
import dozo.verify.HomeReadings.Result;
import dozo.verify.HomeReadings.State;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The work of a home scrub: unchanged source files are read again, and compared with the digests with which they were first sent
 * (ADR 0108). No transaction is open while a source is read; a process that dies loses at most one batch. {@link ScrubJob} calls the
 * steps in order.
 */
@Component
record HomeScrubSteps(
        Scrubs scrubs,
        HomeReadings readings,
        Manifests manifests,
        Experiments experiments,
        ScrubFindings found,
        RottenRanges ranges,
        Findings findings,
        ScrubSettings scrubSettings,
        IngestSettings settings,
        PaceWatch pace,
        Runs runs,
        Ledger ledger,
        TransactionTemplate transaction,
        InstantSource clock) {

    /** Reads the files with the oldest readings, batch by batch, until nothing is due or the time is over. */
    void read(NightFlow flow) throws JobInterruptedException, InterruptedException {
        Scrub scrub = scrubs.find(flow.run()).orElseThrow();
        HomeReader reader = new HomeReader(
                scrub.bytesPerSecond(),
                scrubSettings.homeLoad() / 100.0,
                settings.patience(),
                scrub.cold(),
                flow::ends);
        Set<String> silent = new HashSet<>();
        readings.enlist();
        Optional<Due> next = readings.next(flow.run(), scrub.dueBefore());
        while (next.isPresent() && !scrub.isOver(clock.instant())) {
            flow.check();
            read(flow, reader, readings.begin(next.get(), ScrubSteps.FILES_MAX, ScrubSteps.BYTES_MAX), silent);
            next = readings.next(flow.run(), scrub.dueBefore());
        }
    }

    /** @param silent sites that no longer answer questions about ranges */
    private void read(NightFlow flow, HomeReader reader, Batch batch, Set<String> silent)
            throws JobInterruptedException, InterruptedException {
        int id = batch.due().experimentId();
        Experiment experiment = experiments.find(id).orElseThrow();
        int[] proven = batch.files().keySet().stream()
                .filter(batch.sealed()::containsKey)
                .mapToInt(Integer::intValue)
                .toArray();
        List<Entry> files = manifests.current(id, proven);
        long begin = System.nanoTime();
        List<Seen> seen;
        double seconds;
        List<Finding> rotten;
        try {
            seen = reader.read(experiment.source(), experiment.bound(), files, batch.sealed());
            seconds = (System.nanoTime() - begin) / 1e9;
            rotten = findings(experiment, reader, batch, seen, silent);
        } catch (InterruptedException e) {
            flow.check();
            throw e;
        }
        transaction.executeWithoutResult(_ -> keep(flow.run(), experiment, batch, seen, rotten, seconds));
    }

    private void keep(
            long runId, Experiment experiment, Batch batch, List<Seen> seen, List<Finding> rotten, double seconds) {
        Instant now = clock.instant();
        Map<Integer, Result> results = new HashMap<>();
        List<Finding> unknown = new ArrayList<>();
        long files = 0;
        long bytes = 0;
        for (Seen one : seen) {
            results.put(one.entry().number(), result(one));
            switch (one) {
                case Seen.Equal _, Seen.Edited _, Seen.Rotten _ -> {}
                case Seen.Unknown(Entry file, String message, boolean ofSource) ->
                    unknown.add(
                            new Finding(experiment.id(), Problem.UNREADABLE, ofSource ? null : file.path(), message));
            }
            if (one instanceof Seen.Equal || one instanceof Seen.Rotten) {
                files++;
                bytes += one.entry().facts().sizeBytes();
            }
        }
        readings.add(runId, batch, results, now);
        tell(runId, experiment.id(), Problem.ROTTEN_AT_HOME, rotten);
        tell(runId, experiment.id(), Problem.UNREADABLE, ofSourceOnce(runId, experiment.id(), unknown));
        scrubs.add(runId, new Read(files, bytes, rotten.size(), seconds));
        pace.count(runId, bytes, files);
    }

    private static Result result(Seen seen) {
        return switch (seen) {
            case Seen.Equal _ -> new Result(State.EQUAL, null);
            case Seen.Edited _ -> new Result(State.LEFT, null);
            case Seen.Rotten(var _, var digest) -> new Result(State.ROTTEN, digest);
            case Seen.Unknown _ -> new Result(State.UNKNOWN, null);
        };
    }

    private void tell(long runId, int experimentId, Problem reason, List<Finding> those) {
        if (!those.isEmpty()) {
            found.tell(runId, experimentId, reason, those, "table home_damage");
        }
    }

    /** Returns these findings, with at most one of the source as a whole in a run. */
    private List<Finding> ofSourceOnce(long runId, int experimentId, List<Finding> unknown) {
        List<Finding> once = new ArrayList<>(
                unknown.stream().filter(finding -> finding.path() != null).toList());
        if (!findings.anyOfWhole(runId, experimentId, Problem.UNREADABLE)) {
            unknown.stream()
                    .filter(finding -> finding.path() == null)
                    .findFirst()
                    .ifPresent(once::add);
        }
        return once;
    }

    private List<Finding> findings(
            Experiment experiment, HomeReader reader, Batch batch, List<Seen> seen, Set<String> silent)
            throws InterruptedException {
        List<Seen.Rotten> rotten = seen.stream()
                .filter(Seen.Rotten.class::isInstance)
                .map(Seen.Rotten.class::cast)
                .toList();
        if (rotten.isEmpty()) {
            return List.of();
        }
        Map<Integer, List<AtSite>> sites = readings.atSites(
                experiment.id(),
                rotten.stream().map(one -> one.entry().number()).toList());
        Map<Integer, String> where = ranges.of(
                experiment, reader, rotten.stream().map(Seen.Rotten::entry).toList(), sites, silent);
        return rotten.stream()
                .map(one -> {
                    FilePath path = one.entry().path();
                    int number = one.entry().number();
                    String message =
                            "%s: at home its SHA-256 is %s now, and was %s when it was sent, although its size and time are unchanged. %s%s"
                                    .formatted(
                                            path,
                                            one.found(),
                                            requireNonNull(batch.sealed().get(number)),
                                            where.getOrDefault(number, ""),
                                            rightSide(experiment, sites.getOrDefault(number, List.of())));
                    return new Finding(experiment.id(), Problem.ROTTEN_AT_HOME, path, message);
                })
                .toList();
    }

    private static String rightSide(Experiment experiment, List<AtSite> sites) {
        String copies = HomeReadings.copies(sites);
        if (sites.stream().noneMatch(AtSite::copyIsSealed)) {
            return "No site is known to have what was sent; keep everything. Copies: "
                    + (copies.isEmpty() ? "none" : copies);
        }
        return "Copies: %s. Restore the file beside it, and compare: dozo restore %s --path FILE FOLDER; or in its place: dozo restore %s --path FILE --in-place"
                .formatted(copies, experiment.name(), experiment.name());
    }

    void conclude(NightFlow flow) {
        Scrub scrub = scrubs.find(flow.run()).orElseThrow();
        transaction.executeWithoutResult(_ -> ledger.append(
                Ledger.SYSTEM,
                "scrub.ended",
                String.valueOf(flow.run()),
                Map.of(
                        "files", scrub.copiesRead(),
                        "bytes", scrub.bytesRead(),
                        "rotten", scrub.copiesDamaged(),
                        "site", runs.find(flow.run()).orElseThrow().site())));
    }
}
