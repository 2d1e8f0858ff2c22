package dozo.collect;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.ledger.Rows;
import dozo.source.delivery.Checked;
import dozo.source.delivery.Recheck;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * When the delivered files of experiments were last checked in their origins: a queue of experiments with a position in each, the
 * oldest check first, and the files that every night checks again.
 */
@Component
class OriginChecks {

    /** What a night checks: of the origins that it has collected from. */
    private static final String OF_NIGHT = """
            join arrival a using (experiment_id)
            join origin o using (origin_id)
            join living_experiment e using (experiment_id)
            join project p on p.project_id = e.project_id
            join reconciliation r on r.origin_id = o.origin_id and r.run_id = :run and r.state <> 'UNUSABLE'
            join run n on n.run_id = r.run_id and n.kind = 'nightlyBackup'
            where o.active and o.kind <> 'tree' and a.state in ('ARRIVING', 'COMPLETE') and o.origin_id <> all(:silent)
            """;

    private final JdbcTemplate template;
    private final JdbcClient jdbc;

    /**
     * What is checked next.
     *
     * @param afterPath where its last check has stopped
     * @param again the files that are checked, whatever their age; empty: all that follow
     */
    record Due(
            int experimentId,
            String name,
            int originId,
            String item,
            @Nullable String theirs,
            Instant checkedAt,
            FilePath afterPath,
            List<FilePath> again) {}

    /** What was sent of a file of the current manifest: the first receipt's digest, and the file's size and time then. */
    record Sent(int entryNo, Digest digest, long sizeBytes, long modifiedNs) {}

    /** What was not checked since a moment: the oldest check, and the files that could not be read; {@code example} is one of them. */
    record Late(String origin, Instant checkedAt, long files, String example) {}

    OriginChecks(JdbcTemplate template) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
    }

    /** Adds experiments that were delivered since the last call, and removes what no longer needs a check. Harmless if it is repeated. */
    @Transactional
    public void enlist(Instant now) {
        jdbc.sql("""
                        insert into origin_check (experiment_id, checked_at)
                        select experiment_id, coalesce(a.complete_at, :now)
                        from arrival a join origin o using (origin_id)
                        where o.kind <> 'tree' and a.state in ('ARRIVING', 'COMPLETE') and a.files_here > 0
                        on conflict do nothing
                        """).param("now", Timestamp.from(now)).update();
        jdbc.sql("""
                        delete from origin_damage d
                        where not exists (select from arrival a join living_experiment using (experiment_id)
                                          where a.experiment_id = d.experiment_id and a.state in ('ARRIVING', 'COMPLETE'))
                        """).update();
    }

    /**
     * Returns the files that are checked again first, of one experiment.
     *
     * @param silent origins that are not asked
     */
    Optional<Due> nextAgain(long runId, Collection<Integer> silent, int filesMax) {
        return jdbc.sql("""
                        select c.experiment_id, p.code || '/' || e.code as name, o.origin_id, a.item, a.theirs, c.checked_at, null as after_path,
                               array(select path from origin_damage x
                                     where x.experiment_id = d.experiment_id and x.run_id < :run order by run_id, path limit :most) as again
                        from (select experiment_id, min(run_id) as tried from origin_damage where run_id < :run group by 1) d
                        join origin_check c using (experiment_id)
                        """ + OF_NIGHT + """
                        order by d.tried, c.experiment_id limit 1
                        """)
                .param("run", runId)
                .param("silent", silent.toArray(Integer[]::new))
                .param("most", filesMax)
                .query((row, n) -> due(row))
                .optional();
    }

    /** Returns the experiment with the oldest check before a moment, or that has been begun. Those that failed come last. */
    Optional<Due> next(long runId, Instant dueBefore, Collection<Integer> silent) {
        return jdbc.sql("""
                        select c.experiment_id, p.code || '/' || e.code as name, o.origin_id, a.item, a.theirs, c.checked_at, c.after_path,
                               array[]::bytea[] as again
                        from origin_check c
                        """ + OF_NIGHT + """
                          and c.tried_run is distinct from :run and (c.checked_at < :due or c.after_path is not null)
                        order by c.tried_run nulls first, c.checked_at, c.experiment_id limit 1
                        """)
                .param("run", runId)
                .param("due", Timestamp.from(dueBefore))
                .param("silent", silent.toArray(Integer[]::new))
                .query((row, n) -> due(row))
                .optional();
    }

    private static Due due(ResultSet row) throws SQLException {
        byte[] after = row.getBytes("after_path");
        List<FilePath> again = new ArrayList<>();
        for (byte[] path : (byte[][]) row.getArray("again").getArray()) {
            again.add(FilePath.of(path));
        }
        return new Due(
                row.getInt("experiment_id"),
                row.getString("name"),
                row.getInt("origin_id"),
                row.getString("item"),
                row.getString("theirs"),
                row.getTimestamp("checked_at").toInstant(),
                after == null ? FilePath.ROOT : FilePath.of(after),
                again);
    }

    /** Records that a run tries these: what it cannot check comes last from then on. */
    void trying(long runId, Due due) {
        if (due.again().isEmpty()) {
            jdbc.sql("update origin_check set tried_run = :run where experiment_id = :experiment")
                    .param("run", runId)
                    .param("experiment", due.experimentId())
                    .update();
        } else {
            jdbc.sql("update origin_damage set run_id = :run where experiment_id = :experiment and path = any(:paths)")
                    .param("run", runId)
                    .param("experiment", due.experimentId())
                    .param("paths", bytes(due.again()))
                    .update();
        }
    }

    /** Returns what was sent of these files. NB: the first receipt, as in a home scrub: a later one may be of rotten bytes. */
    Map<FilePath, Sent> sent(int experimentId, List<FilePath> paths) {
        Map<FilePath, Sent> sent = new HashMap<>();
        jdbc.sql("""
                        select f.path, e.entry_no, e.size_bytes, e.modified_ns, r.digest
                        from unnest(:paths::bytea[], :parents::bytea[], :names::bytea[]) as f (path, parent, own)
                        join directory d on d.experiment_id = :experiment and sha256(d.path) = sha256(f.parent)
                        cross join lateral versions_of(:experiment, d.directory_no, f.own) e
                        cross join lateral (
                            select digest from entry_receipt r
                            where r.experiment_id = :experiment and r.entry_no = e.entry_no
                              and lowest_of(r.entry_nos) <= e.entry_no and highest_of(r.entry_nos) >= e.entry_no
                            order by receipt_id limit 1) r
                        where e.until_manifest is null and e.kind = 'f'
                        """)
                .param("experiment", experimentId)
                .param("paths", bytes(paths))
                .param(
                        "parents",
                        paths.stream().map(path -> path.parent().bytes()).toArray(byte[][]::new))
                .param("names", paths.stream().map(FilePath::name).toArray(byte[][]::new))
                .query(row -> {
                    sent.put(
                            FilePath.of(row.getBytes("path")),
                            new Sent(
                                    row.getInt("entry_no"),
                                    Digest.of(row.getBytes("digest")),
                                    row.getLong("size_bytes"),
                                    row.getLong("modified_ns")));
                });
        return sent;
    }

    /** Stores what a run has found. */
    @Transactional(propagation = Propagation.MANDATORY)
    public void add(long runId, Due due, Recheck.Result result, Instant began) {
        jdbc.sql("delete from origin_damage where experiment_id = :experiment and path = any(:paths)")
                .param("experiment", due.experimentId())
                .param(
                        "paths",
                        bytes(result.files().stream()
                                .filter(file -> file instanceof Checked.Equal || file instanceof Checked.Edited)
                                .map(Checked::path)
                                .toList()))
                .update();
        for (Checked file : result.files()) {
            switch (file) {
                case Checked.Equal _, Checked.Edited _ -> {}
                case Checked.Other(FilePath path, Digest found, var _, var _) ->
                    damage(runId, due, path, found.bytes(), "");
                case Checked.Unknown(FilePath path, String message) -> damage(runId, due, path, null, message);
            }
        }
        if (due.again().isEmpty()) {
            FilePath next = result.next();
            jdbc.sql("""
                            update origin_check
                            set checked_at = case when :next::bytea is null then coalesce(began_at, :began) else checked_at end,
                                began_at = case when :next::bytea is not null then coalesce(began_at, :began) end,
                                after_path = :next, tried_run = null
                            where experiment_id = :experiment
                            """)
                    .param("next", next == null ? null : next.bytes(), Types.BINARY)
                    .param("began", Timestamp.from(began))
                    .param("experiment", due.experimentId())
                    .update();
        }
    }

    private void damage(long runId, Due due, FilePath path, byte @Nullable [] found, String message) {
        template.update("""
                insert into origin_damage (experiment_id, path, run_id, checked_at, found_digest, message) values (?, ?, ?, ?, ?, ?)
                on conflict (experiment_id, sha256(path)) do update
                    set run_id = excluded.run_id, found_digest = excluded.found_digest, message = excluded.message
                """, due.experimentId(), path.bytes(), runId, Timestamp.from(due.checkedAt()), found, message);
    }

    /** Returns the origins of a night with a check before a moment. */
    List<Late> late(long runId, Instant before) {
        return jdbc.sql("""
                        select o.name as origin, min(c.checked_at) as checked_at, count(c.path) as files,
                               coalesce(min(p.code || '/' || e.code || ': ' || c.message) filter (where c.message <> ''), '') as example
                        from origin_checked c
                        join origin o using (origin_id)
                        join experiment e using (experiment_id)
                        join project p on p.project_id = e.project_id
                        join reconciliation r on r.origin_id = o.origin_id and r.run_id = :run
                        join run n on n.run_id = r.run_id and n.kind = 'nightlyBackup'
                        where o.active and c.checked_at < :before
                        group by o.name order by o.name
                        """)
                .param("run", runId)
                .param("before", Timestamp.from(before))
                .query(Rows.of(Late.class))
                .list();
    }

    private static byte[][] bytes(List<FilePath> paths) {
        return paths.stream().map(FilePath::bytes).toArray(byte[][]::new);
    }
}
