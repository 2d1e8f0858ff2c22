package dozo.transfer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dozo.content.Companions;
import dozo.content.Instance;
import dozo.content.Verdict;
import dozo.content.Verdict.State;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.manifest.IngestSettings;
import dozo.manifest.LinkGroups;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.plan.Planner.Limits;
import dozo.plan.UnitKind;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Scanners;
import dozo.send.Earlier;
import dozo.send.Outcome;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import dozo.send.Route;
import dozo.send.SourceFolder;
import dozo.send.Unit;
import dozo.send.WayIn;
import dozo.verify.AllCompanions;
import dozo.verify.AllSeries;
import dozo.verify.Contents;
import dozo.verify.Damages;
import dozo.verify.Images;
import dozo.verify.Receipts;
import dozo.verify.Receipts.Proof;
import java.sql.Types;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Claims transfer units for a worker of a run, and closes them with their outcomes. A claim is a lease of the worker
 * ({@link RunWorkers}); its report about a unit that another has taken over is ignored.
 */
@Component
public class ClaimedUnits {

    /** The least weight of a unit. Its inverse is the number of tiny units that may be under way instead of a full one. */
    private static final double WEIGHT_MIN = 1 / 16.0;

    /** For people: the weekday says how much time is left. */
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("EEEE, uuuu-MM-dd", Locale.ENGLISH);

    private static final Limits EACH_WHOLE = new Limits(1, 1, 1);

    private static final String OF_PARTITION = "and partition_no = :partition order by turn, unit_id";
    private static final String OF_ANY = "order by partition_no, turn, unit_id";

    private final JdbcClient jdbc;
    private final Manifests manifests;
    private final LinkGroups groups;
    private final Experiments experiments;
    private final Receipts receipts;
    private final Damages damages;
    private final Findings findings;
    private final Contents contents;
    private final AllSeries series;
    private final Images images;
    private final IngestSettings ingest;
    private final AllCompanions companions;
    private final Scanners scanners;

    /**
     * A claimed unit with everything that is needed to send it.
     *
     * @param manifest the experiment's current one
     * @param earlier what is known of copies that its entries replace
     */
    public record Claim(
            long unitId,
            int experimentId,
            int siteId,
            long runId,
            int manifest,
            Route route,
            Unit unit,
            Earlier earlier) {

        /** Returns which part of a full unit this is: at most 1. */
        public double weight(Limits full) {
            long bytes = unit.entries().stream()
                    .mapToLong(entry -> entry.facts().sizeBytes())
                    .sum();
            double part = Math.max(
                    (double) unit.entries().size() / full.bundleEntriesMax(), (double) bytes / full.bundleBytesMax());
            return Math.clamp(part, WEIGHT_MIN, 1);
        }
    }

    /**
     * What to claim at once.
     *
     * @param units not more of them
     * @param weight none after units that {@linkplain Claim#weight weigh} so much
     * @param full of a full unit
     */
    public record Share(int units, double weight, Limits full) {}

    /** A claimed unit, the outcome of each entry, and how digests were computed. */
    public record Result(Claim claim, List<Outcome> outcomes, String method) {

        /** Returns the entries that could not be proven. */
        public Stream<Failed> failures() {
            return outcomes.stream().filter(Failed.class::isInstance).map(Failed.class::cast);
        }

        /** Returns the entries that were proven. */
        public Stream<Entry> proven() {
            return outcomes.stream().filter(Verified.class::isInstance).map(Outcome::entry);
        }

        public boolean hasFailures() {
            return failures().findAny().isPresent();
        }
    }

    @SuppressWarnings("ArrayRecordComponent") // is never compared
    private record Row(long unitId, int experimentId, int siteId, UnitKind kind, int[] entries) {}

    public ClaimedUnits(
            JdbcClient jdbc,
            Manifests manifests,
            LinkGroups groups,
            Experiments experiments,
            Receipts receipts,
            Damages damages,
            Findings findings,
            Contents contents,
            AllSeries series,
            Images images,
            IngestSettings ingest,
            AllCompanions companions,
            Scanners scanners) {
        this.jdbc = jdbc;
        this.manifests = manifests;
        this.groups = groups;
        this.experiments = experiments;
        this.receipts = receipts;
        this.damages = damages;
        this.findings = findings;
        this.contents = contents;
        this.series = series;
        this.images = images;
        this.ingest = ingest;
        this.companions = companions;
        this.scanners = scanners;
    }

    /** Claims units of all experiments. */
    public List<Claim> claim(long runId, long worker, int partition, int units) {
        return claim(runId, worker, partition, new Share(units, units, EACH_WHOLE), Set.of());
    }

    /**
     * Claims planned units of a run: the next ones of a partition, or of another if it has none. Further names of files
     * come after all other units of their experiment, because these bring the files.
     *
     * @param except experiments to claim nothing of
     * @return none: nothing can be claimed now
     */
    public List<Claim> claim(long runId, long worker, int partition, Share share, Set<Integer> except) {
        List<Claim> claims = claim(OF_PARTITION, runId, worker, partition, share, except);
        return claims.isEmpty() ? claim(OF_ANY, runId, worker, partition, share, except) : claims;
    }

    private List<Claim> claim(String which, long runId, long worker, int partition, Share share, Set<Integer> except) {
        List<Claim> claims;
        List<Row> rows;
        do {
            rows = rows(which, runId, worker, partition, share, except);
            claims = claims(runId, rows);
        } while (claims.isEmpty() && !rows.isEmpty());
        return claims;
    }

    private List<Row> rows(String which, long runId, long worker, int partition, Share share, Set<Integer> except) {
        return jdbc
                .sql("""
                        update transfer_unit set worker_id = :worker, attempts = attempts + 1
                        where unit_id in (
                            select unit_id from (
                                select unit_id,
                                       sum(least(1.0, greatest(:least, cardinality(entry_nos) / :entries::float8, length_bytes / :bytes::float8)))
                                           over (rows between unbounded preceding and 1 preceding) as before
                                from (select unit_id, entry_nos, length_bytes from transfer_unit u
                                      where run_id = :run and state = 'PLANNED' and worker_id is null
                                        and experiment_id <> all(:except)
                                        and exists (select from run_worker w
                                                    where w.worker_id = :worker and not w.ended
                                                      and not (w.joined and u.for_service))
                                        and (kind <> 'LINKS'
                                             or not exists (select from transfer_unit o
                                                            where o.run_id = :run and o.state = 'PLANNED'
                                                              and o.experiment_id = u.experiment_id
                                                              and o.kind <> 'LINKS'))
                                      %s
                                      limit :limit
                                      for update skip locked) next) weighed
                            where coalesce(before, 0) < :weight)
                        returning *
                        """.formatted(which))
                .param("worker", worker)
                .param("run", runId)
                .param("partition", partition)
                .param("least", WEIGHT_MIN)
                .param("entries", share.full.bundleEntriesMax())
                .param("bytes", share.full.bundleBytesMax())
                .param("limit", share.units)
                .param("weight", share.weight)
                .param("except", except.toArray(Integer[]::new))
                .query((row, n) -> new Row(
                        row.getLong("unit_id"),
                        row.getInt("experiment_id"),
                        row.getInt("site_id"),
                        UnitKind.valueOf(row.getString("kind")),
                        Arrays.stream((Integer[]) row.getArray("entry_nos").getArray())
                                .mapToInt(Integer::intValue)
                                .toArray()))
                .list()
                .stream()
                .sorted(Comparator.comparingLong(Row::unitId))
                .toList();
    }

    private List<Claim> claims(long runId, List<Row> rows) {
        if (rows.isEmpty()) {
            return List.of();
        }
        List<Long> ids = rows.stream().map(Row::unitId).toList();
        int[] experimentIds =
                rows.stream().mapToInt(Row::experimentId).distinct().toArray();
        Map<Long, List<Entry>> entries = manifests.ofUnits(ids);
        Map<Long, Map<Integer, Digest>> damaged = damages.ofUnits(ids);
        Map<Long, Set<Integer>> shared = groups.ofUnits(ids);
        Map<Integer, Manifest> current = manifests.current(experimentIds);
        Map<Integer, Experiment> known =
                experiments.of(experimentIds).stream().collect(Collectors.toMap(Experiment::id, each -> each));
        cancel(ids.stream().filter(id -> !entries.containsKey(id)).toList());
        return rows.stream()
                .filter(row -> entries.containsKey(row.unitId()))
                .map(row -> claim(
                        runId,
                        row,
                        requireNonNull(entries.get(row.unitId())),
                        requireNonNull(known.get(row.experimentId())),
                        requireNonNull(current.get(row.experimentId())).number(),
                        new Earlier(
                                damaged.getOrDefault(row.unitId(), Map.of()),
                                shared.getOrDefault(row.unitId(), Set.of()))))
                .toList();
    }

    private void cancel(List<Long> units) {
        if (!units.isEmpty()) {
            jdbc.sql("""
                            update transfer_unit set state = 'CANCELLED', reason = 'none of its entries is in the current manifest'
                            where unit_id = any(:units)
                            """).param("units", units.toArray(Long[]::new)).update();
        }
    }

    private Claim claim(
            long runId, Row row, List<Entry> entries, Experiment experiment, int manifest, Earlier earlier) {
        Unit unit = switch (row.kind()) {
            case BUNDLE -> new Unit.Bundle(entries);
            case LARGE -> new Unit.Large(entries.getFirst());
            case LINKS ->
                new Unit.Links(
                        entries,
                        groups.stored(row.experimentId(), row.siteId(), row.entries()).stream()
                                .map(stored -> new Verified(stored.entry(), stored.digest()))
                                .toList());
        };
        // Like Experiment.opened(), but without accessing a file system, because that may hang.
        SourceFolder source = experiment.bound()
                ? SourceFolder.of(experiment.source())
                : SourceFolder.behindLinks(experiment.source());
        Route route = Route.backup(source, experiment.name(), manifest, experiment.names());
        return new Claim(row.unitId(), row.experimentId(), row.siteId(), runId, manifest, route, unit, earlier);
    }

    /**
     * Records the outcomes of units: their receipts, states and findings, in one transaction of the caller. Outcomes of
     * a unit that another worker has taken over are ignored.
     *
     * @param host the machine that sent them
     */
    public void record(List<Result> results, long worker, String host) {
        // In the same order for every worker: the sums of experiments stay locked until the end of the transaction.
        results.stream()
                .sorted(Comparator.comparingInt(result -> result.claim().experimentId()))
                .forEach(result -> record(result, worker, host));
    }

    private void record(Result result, long worker, String host) {
        Claim claim = result.claim();
        List<Proof> proofs = new ArrayList<>();
        Map<WayIn, List<Proof>> byWay = new EnumMap<>(WayIn.class);
        List<Finding> problems = new ArrayList<>();
        List<Finding> silent = new ArrayList<>();
        Map<Entry, Verdict> verdicts = new HashMap<>();
        Map<Integer, Instance> instances = new HashMap<>();
        Map<Entry, Companions> headers = new HashMap<>();
        for (Outcome outcome : result.outcomes()) {
            switch (outcome) {
                case Verified(Entry entry, var digest, WayIn wayIn, Verdict verdict, var relation) -> {
                    verdicts.put(entry, verdict);
                    switch (relation) {
                        case null -> {}
                        case Instance instance -> instances.put(entry.number(), instance);
                        case Companions those when verdict.state() == State.WHOLE -> headers.put(entry, those);
                        case Companions _ -> {}
                    }
                    Proof proof = new Proof(entry.number(), digest);
                    proofs.add(proof);
                    byWay.computeIfAbsent(wayIn, _ -> new ArrayList<>()).add(proof);
                }
                case Failed(Entry entry, Problem problem, String message, boolean ofSource) ->
                    (ofSource ? silent : problems)
                            .add(new Finding(claim.experimentId(), problem, ofSource ? null : entry.path(), message));
            }
        }
        if (!close(result, worker, Stream.concat(problems.stream(), silent.stream()))) {
            return;
        }
        if (!proofs.isEmpty()) {
            byWay.forEach((wayIn, those) -> receipts.add(
                    claim.experimentId(),
                    claim.siteId(),
                    claim.unitId(),
                    claim.runId(),
                    claim.manifest(),
                    those,
                    wayIn.word(),
                    result.method(),
                    host));
            receipts.addToProtection(claim.experimentId(), claim.siteId(), proofs);
        }
        headers.forEach((entry, those) -> companions.add(
                claim.experimentId(),
                entry.number(),
                requireNonNull(verdicts.get(entry)).format(),
                those));
        verdicts.putAll(ofHeaders(claim.experimentId(), headers.keySet(), verdicts.keySet()));
        problems.addAll(judged(claim.experimentId(), verdicts));
        series.add(claim.experimentId(), instances);
        if (ingest.images()) {
            images.add(claim.experimentId(), instances);
        }
        if (!silent.isEmpty()) {
            // One finding for the whole source, whatever other workers record about it at the same time.
            receipts.lock(claim.experimentId());
            if (!findings.anyOfWhole(
                    claim.runId(), claim.experimentId(), silent.getFirst().reason())) {
                problems.add(silent.getFirst());
            }
        }
        findings.add(claim.runId(), problems);
    }

    /** Judges these headers, and those to which files belong that were read now. */
    private Map<Entry, Verdict> ofHeaders(int experimentId, Set<Entry> headers, Set<Entry> read) {
        List<Integer> concerned = read.stream()
                .filter(entry -> headers.contains(entry)
                        || Companions.mayBe(new String(entry.path().name(), UTF_8)))
                .map(Entry::number)
                .toList();
        if (concerned.isEmpty()) {
            return Map.of();
        }
        Map<Integer, Verdict> verdicts = companions.judge(experimentId, concerned);
        Map<Integer, Entry> entries = read.stream().collect(Collectors.toMap(Entry::number, entry -> entry));
        int[] others = verdicts.keySet().stream()
                .filter(number -> !entries.containsKey(number))
                .mapToInt(Integer::intValue)
                .toArray();
        manifests.current(experimentId, others).forEach(entry -> entries.put(entry.number(), entry));
        return verdicts.entrySet().stream()
                .filter(each -> entries.containsKey(each.getKey()))
                .collect(Collectors.toMap(each -> requireNonNull(entries.get(each.getKey())), Map.Entry::getValue));
    }

    /** Records what content says. Returns findings of what is broken, unless it was read as such before, for another site. */
    private List<Finding> judged(int experimentId, Map<Entry, Verdict> verdicts) {
        List<Entry> broken = verdicts.keySet().stream()
                .filter(entry -> requireNonNull(verdicts.get(entry)).state() == State.BROKEN)
                .sorted(Comparator.comparingInt(Entry::number))
                .toList();
        Set<Integer> known = broken.isEmpty()
                ? Set.of()
                : contents.broken(
                        experimentId, broken.stream().map(Entry::number).collect(Collectors.toSet()));
        contents.add(
                experimentId,
                verdicts.entrySet().stream()
                        .collect(Collectors.toMap(each -> each.getKey().number(), Map.Entry::getValue)));
        List<Entry> fresh =
                broken.stream().filter(entry -> !known.contains(entry.number())).toList();
        Optional<LocalDate> deletes = fresh.isEmpty() ? Optional.empty() : scanners.deletes(experimentId);
        return fresh.stream()
                .map(entry -> finding(experimentId, entry, requireNonNull(verdicts.get(entry)), deletes))
                .toList();
    }

    private static Finding finding(int experimentId, Entry entry, Verdict verdict, Optional<LocalDate> deletes) {
        return new Finding(
                experimentId,
                Problem.BROKEN,
                entry.path(),
                "%s: not whole as %s: %s. The copy is the same; look whether the scanner or the export still has it%s"
                        .formatted(
                                entry.path(),
                                verdict.format(),
                                verdict.why(),
                                deletes.map(day -> ". The scanner deletes it on " + DAY.format(day))
                                        .orElse("")));
    }

    /** Returns false if another worker has taken the unit over. */
    private boolean close(Result result, long worker, Stream<Finding> problems) {
        Optional<String> reason = problems.findFirst().map(Finding::message);
        List<Entry> proven = reason.isEmpty() ? List.of() : result.proven().toList();
        return jdbc.sql("""
                        update transfer_unit set state = :state, reason = :reason, bytes_proven = least(:bytes, length_bytes), entries_proven = :entries
                        where unit_id = :unit and worker_id = :worker and state = 'PLANNED'
                        """)
                        .param("state", reason.isEmpty() ? "VERIFIED" : "FAILED")
                        .param("reason", reason.orElse(null), Types.VARCHAR)
                        .param(
                                "bytes",
                                proven.stream()
                                        .mapToLong(entry -> entry.facts().sizeBytes())
                                        .sum())
                        .param("entries", proven.size())
                        .param("unit", result.claim().unitId())
                        .param("worker", worker)
                        .update()
                == 1;
    }

    /**
     * Gives back a unit that a worker could not prove completely, so that the service tries again: only the service decides what
     * is a finding, because a source may be missing only on the worker's machine.
     */
    public void leaveToService(long unitId, long worker) {
        jdbc.sql("""
                        update transfer_unit set worker_id = null, for_service = true
                        where unit_id = :unit and worker_id = :worker and state = 'PLANNED'
                        """).param("unit", unitId).param("worker", worker).update();
    }
}
