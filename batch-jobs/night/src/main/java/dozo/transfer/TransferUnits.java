package dozo.transfer;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Sight;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.plan.PlannedUnit;
import dozo.plan.UnitKind;
import dozo.plan.Work;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.send.Outcome;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import dozo.send.Route;
import dozo.send.Unit;
import dozo.verify.Damages;
import dozo.verify.Receipts;
import dozo.verify.Receipts.Proof;
import java.sql.Types;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The transfer units: planned, claimed, and closed with what came of them. They are the truth about progress; Spring
 * Batch's own state is not asked.
 */
@Component
public class TransferUnits {

    private static final int BATCH = 500;

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final Manifests manifests;
    private final Experiments experiments;
    private final Receipts receipts;
    private final Damages damages;
    private final Findings findings;

    /**
     * A claimed unit with all that is needed to send it.
     *
     * @param manifest the experiment's current one
     * @param proven for entries whose copy was damaged, by their numbers: the digest that what is sent in its place has to have
     */
    public record Claim(
            long unitId,
            int experimentId,
            int siteId,
            long runId,
            int manifest,
            Route route,
            Unit unit,
            Map<Integer, Digest> proven) {}

    /** A claimed unit, what came of each entry, and how digests were computed. */
    public record Result(Claim claim, List<Outcome> outcomes, String method) {}

    /**
     * How far a run is.
     *
     * @param bytesDone those of units that are recorded: a large file counts when it is proven
     * @param bytesMoved content bytes sent so far by the run's engine in this process, some of them perhaps twice; 0 when it has
     *     none
     */
    public record Progress(long units, long unitsDone, long unitsFailed, long bytes, long bytesDone, long bytesMoved) {

        /** Only what is recorded: changes when a unit ends, and not with every block. */
        public Progress recorded() {
            return moved(0);
        }

        /** The same with what an engine has sent. */
        public Progress moved(long bytes) {
            return new Progress(units, unitsDone, unitsFailed, this.bytes, bytesDone, bytes);
        }
    }

    /**
     * How far a partition of a run is.
     *
     * @param entriesDone files, folders and links that have receipts
     */
    public record PartitionProgress(
            int number, long units, long unitsDone, long unitsFailed, long bytes, long bytesDone, long entriesDone) {}

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Row(long unitId, int experimentId, int siteId, UnitKind kind, int[] entries) {}

    public TransferUnits(
            JdbcTemplate template,
            Manifests manifests,
            Experiments experiments,
            Receipts receipts,
            Damages damages,
            Findings findings) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.manifests = manifests;
        this.experiments = experiments;
        this.receipts = receipts;
        this.damages = damages;
        this.findings = findings;
    }

    /**
     * Cancels what earlier runs left open, to be planned anew. What is at the site of a large file is found again there: its
     * temporary name is the same in every run. A retry leaves alone what it does not go through.
     */
    public void cancelEarlier(long runId, int siteId) {
        jdbc.sql("""
                        update transfer_unit u set state = 'CANCELLED'
                        where site_id = :site and state in ('PLANNED', 'FAILED') and run_id <> :run
                          and (not exists (select from run_experiment where run_id = :run)
                               or exists (select from run_experiment c
                                          where c.run_id = :run and c.experiment_id = u.experiment_id))
                        """).param("run", runId).param("site", siteId).update();
    }

    /** Adds planned units. */
    public void add(long runId, int experimentId, int siteId, List<PlannedUnit> units) {
        template.batchUpdate("""
                insert into transfer_unit (run_id, experiment_id, site_id, kind, entry_nos, length_bytes, state, partition_no)
                values (?, ?, ?, ?, ?, ?, 'PLANNED', ?)
                """, units, BATCH, (statement, unit) -> {
            statement.setLong(1, runId);
            statement.setInt(2, experimentId);
            statement.setInt(3, siteId);
            statement.setString(4, unit.kind().name());
            statement.setObject(5, unit.entryNumbers());
            statement.setLong(6, unit.lengthBytes());
            statement.setInt(7, unit.partition());
        });
    }

    /** The highest partition number in use in a run, -1 when it has no units. */
    public int lastPartition(long runId) {
        return jdbc.sql("select coalesce(max(partition_no), -1) from transfer_unit where run_id = :run")
                .param("run", runId)
                .query((row, n) -> row.getInt(1))
                .single();
    }

    /**
     * Claims the partition's next planned unit after {@code unitId}. The claim is the row's lock: it lasts as long as the
     * transaction, and a worker that dies gives it back with its connection.
     */
    public Optional<Claim> claim(long runId, int partition, long unitId) {
        long after = unitId;
        while (true) {
            Optional<Row> row = nextPlanned(runId, partition, after);
            if (row.isEmpty()) {
                return Optional.empty();
            }
            Optional<Claim> claim = claim(runId, row.get());
            if (claim.isPresent()) {
                return claim;
            }
            close(row.get().unitId(), "CANCELLED", "no entry of it holds any more");
            after = row.get().unitId();
        }
    }

    private Optional<Row> nextPlanned(long runId, int partition, long after) {
        return jdbc.sql("""
                        select * from transfer_unit
                        where run_id = :run and partition_no = :partition and state = 'PLANNED' and unit_id > :after
                        order by unit_id
                        limit 1
                        for update skip locked
                        """)
                .param("run", runId)
                .param("partition", partition)
                .param("after", after)
                .query((row, n) -> new Row(
                        row.getLong("unit_id"),
                        row.getInt("experiment_id"),
                        row.getInt("site_id"),
                        UnitKind.valueOf(row.getString("kind")),
                        numbers((Integer[]) row.getArray("entry_nos").getArray())))
                .optional();
    }

    private Optional<Claim> claim(long runId, Row row) {
        List<Entry> entries = manifests.current(row.experimentId(), row.entries());
        if (entries.isEmpty()) {
            return Optional.empty();
        }
        Experiment experiment = experiments.find(row.experimentId()).orElseThrow();
        Manifest manifest = manifests.current(row.experimentId()).orElseThrow();
        Unit unit = switch (row.kind()) {
            case BUNDLE -> new Unit.Bundle(entries);
            case LARGE -> new Unit.Large(entries.getFirst());
        };
        Route route = Route.backup(experiment.opened(), experiment.name(), manifest.number());
        return Optional.of(new Claim(
                row.unitId(),
                row.experimentId(),
                row.siteId(),
                runId,
                manifest.number(),
                route,
                unit,
                damages.proven(row.experimentId(), row.siteId(), row.entries())));
    }

    /** Records what came of a unit: its receipt, its state, its findings, in the caller's one transaction. */
    public void record(Result result, String worker) {
        Claim claim = result.claim();
        List<Proof> proofs = new ArrayList<>();
        List<Finding> problems = new ArrayList<>();
        long files = 0;
        long bytes = 0;
        for (Outcome outcome : result.outcomes()) {
            switch (outcome) {
                case Verified(Entry entry, var digest) -> {
                    proofs.add(new Proof(entry.number(), digest));
                    files += entry.facts().kind() == EntryKind.FILE ? 1 : 0;
                    bytes += entry.facts().sizeBytes();
                }
                case Failed(Entry entry, Problem problem, String message) ->
                    problems.add(new Finding(claim.experimentId(), problem, entry.path(), message));
            }
        }
        if (!proofs.isEmpty()) {
            receipts.add(
                    claim.experimentId(),
                    claim.siteId(),
                    claim.unitId(),
                    claim.runId(),
                    claim.manifest(),
                    proofs,
                    result.method(),
                    worker);
            receipts.addToProtection(claim.experimentId(), claim.siteId(), files, bytes, proofs.size());
        }
        findings.add(claim.runId(), problems);
        close(
                claim.unitId(),
                problems.isEmpty() ? "VERIFIED" : "FAILED",
                problems.isEmpty() ? null : problems.getFirst().message());
    }

    /** The numbers of the large files of an experiment that are on their way. */
    public Set<Integer> underWay(int experimentId, int siteId) {
        return new HashSet<>(jdbc.sql("""
                        select distinct entry_nos[1] from transfer_unit
                        where experiment_id = :experiment and site_id = :site and kind = 'LARGE'
                          and state in ('PLANNED', 'FAILED')
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .query((row, n) -> row.getInt(1))
                .list());
    }

    /** What a run has sent and proven so far, in units of which nothing failed. */
    public Work verified(long runId) {
        return jdbc.sql("""
                        select coalesce(sum(length_bytes), 0) as bytes, coalesce(sum(cardinality(entry_nos)), 0) as entries
                        from transfer_unit where run_id = :run and state = 'VERIFIED'
                        """)
                .param("run", runId)
                .query((row, n) -> new Work(row.getLong("bytes"), row.getLong("entries")))
                .single();
    }

    public Progress progress(long runId) {
        return progress(Sight.EVERYTHING, runId);
    }

    /** How far a run is, as far as it is recorded. */
    public Progress progress(Sight sight, long runId) {
        return jdbc.sql("""
                        select count(*) as units,
                               count(*) filter (where state = 'VERIFIED') as done,
                               count(*) filter (where state = 'FAILED') as failed,
                               coalesce(sum(length_bytes), 0) as bytes,
                               coalesce(sum(length_bytes) filter (where state = 'VERIFIED'), 0) as bytes_done
                        from transfer_unit where run_id = :run and state <> 'CANCELLED'
                          and (:seen::text[] is null or experiment_id in (
                                  select e.experiment_id from experiment e join project p using (project_id)
                                  where p.code = any(:seen::text[])))
                        """)
                .param("seen", sight.seen())
                .param("run", runId)
                .query((row, n) -> new Progress(
                        row.getLong("units"),
                        row.getLong("done"),
                        row.getLong("failed"),
                        row.getLong("bytes"),
                        row.getLong("bytes_done"),
                        0))
                .single();
    }

    /** How far each partition of a run is with what is seen, as far as it is recorded; by number. */
    public List<PartitionProgress> partitions(Sight sight, long runId) {
        return jdbc.sql("""
                        select partition_no, count(*) as units,
                               count(*) filter (where state = 'VERIFIED') as done,
                               count(*) filter (where state = 'FAILED') as failed,
                               sum(length_bytes) as bytes,
                               coalesce(sum(length_bytes) filter (where state = 'VERIFIED'), 0) as bytes_done,
                               coalesce(sum(cardinality(entry_nos)) filter (where state = 'VERIFIED' and kind <> 'RANGE'), 0)
                                   as entries_done
                        from transfer_unit where run_id = :run and state <> 'CANCELLED'
                          and (:seen::text[] is null or experiment_id in (
                                  select e.experiment_id from experiment e join project p using (project_id)
                                  where p.code = any(:seen::text[])))
                        group by partition_no
                        order by partition_no
                        """)
                .param("seen", sight.seen())
                .param("run", runId)
                .query((row, n) -> new PartitionProgress(
                        row.getInt("partition_no"),
                        row.getLong("units"),
                        row.getLong("done"),
                        row.getLong("failed"),
                        row.getLong("bytes"),
                        row.getLong("bytes_done"),
                        row.getLong("entries_done")))
                .list();
    }

    private void close(long unitId, String state, @Nullable String reason) {
        jdbc.sql("""
                        update transfer_unit set state = :state, reason = :reason, attempts = attempts + 1
                        where unit_id = :unit
                        """)
                .param("state", state)
                .param("reason", reason, Types.VARCHAR)
                .param("unit", unitId)
                .update();
    }

    private static int[] numbers(Integer[] boxed) {
        int[] numbers = new int[boxed.length];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = boxed[i];
        }
        return numbers;
    }
}
