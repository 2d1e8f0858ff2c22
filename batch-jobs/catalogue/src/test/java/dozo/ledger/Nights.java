package dozo.ledger;

import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.verify.Receipts;
import dozo.verify.Receipts.Proof;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A catalogue with made-up events and times: experiments of files, manifests, receipts. Site and run have the number 1.
 */
final class Nights {

    final DataSource database = TestDatabase.fresh();
    final JdbcClient jdbc = JdbcClient.create(database);

    private Instant now = Instant.parse("2026-09-01T00:00:00Z");
    private final Receipts receipts = new Receipts(jdbc, () -> now);

    Nights() {
        site("dr");
        jdbc.sql("""
                insert into run (kind, site_id, state, requested_by, started_at)
                values ('nightlyBackup', 1, 'RUNNING', 'test', now());
                insert into project (code, created_at) values ('P1', now()), ('P2', now());
                """).update();
    }

    Nights at(String time) {
        now = Instant.parse(time);
        return this;
    }

    void site(String name) {
        jdbc.sql("""
                        insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                        values (:name, 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', :now::timestamptz)
                        """).param("name", name).param("now", now.toString()).update();
    }

    /** Registers the next experiment. */
    int experiment(
            int project, String code, @Nullable String modality, @Nullable String scanner, @Nullable String day) {
        return jdbc.sql("""
                        insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by,
                                                modality, scanner, acquired_on)
                        values (:project, :code, 'filesystem', :root, :now::timestamptz, 'test', :modality, :scanner, :day::date)
                        returning experiment_id
                        """)
                .param("project", project)
                .param("code", code)
                .param("root", ("/data/" + code).getBytes(java.nio.charset.StandardCharsets.UTF_8))
                .param("now", now.toString())
                .param("modality", modality, java.sql.Types.VARCHAR)
                .param("scanner", scanner, java.sql.Types.VARCHAR)
                .param("day", day, java.sql.Types.VARCHAR)
                .query(Integer.class)
                .single();
    }

    /**
     * Seals the next manifest: with {@code more} additional files of 10 bytes, and without the {@code gone} entries.
     */
    void seal(int experiment, int more, Integer... gone) {
        jdbc.sql("""
                        insert into directory values (:experiment, 1, '') on conflict do nothing;
                        with gone as (
                            delete from entry where experiment_id = :experiment and entry_no = any(:gone) returning *
                        )
                        insert into ended_entry
                        select *, (select max(manifest_no) + 1 from manifest where experiment_id = :experiment) from gone;
                        insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns,
                                           mode, kind, name)
                        select :experiment, n + known, 1, 1 + manifests, 10, 0, 420, 'f', convert_to('f' || n + known, 'UTF8')
                        from generate_series(1, :more) n,
                             (select coalesce(max(entry_no), 0) as known from entry_version where experiment_id = :experiment),
                             (select coalesce(max(manifest_no), 0) as manifests from manifest where experiment_id = :experiment);
                        insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                              entries_changed, entries_gone)
                        select :experiment,
                               (select coalesce(max(manifest_no), 0) + 1 from manifest where experiment_id = :experiment),
                               :now::timestamptz, count(*), sum(size_bytes), 0, 0, :more, 0, :goneCount
                        from entry where experiment_id = :experiment;
                        """)
                .param("experiment", experiment)
                .param("more", more)
                .param("gone", gone)
                .param("goneCount", gone.length)
                .param("now", now.toString())
                .update();
        receipts.count(experiment);
    }

    /** Adds a receipt for files of 10 bytes, as a unit of the run does. */
    void prove(int experiment, Integer... entries) {
        jdbc.sql("""
                        insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                        values (:experiment, 1, 'BUNDLE', :entries, 1, 'VERIFIED', 1, 0)
                        """).param("experiment", experiment).param("entries", entries).update();
        long unit = jdbc.sql("select max(unit_id) from transfer_unit")
                .query(Long.class)
                .single();
        List<Proof> proofs = List.of(entries).stream()
                .map(entry -> new Proof(entry, digest(entry)))
                .toList();
        receipts.add(experiment, 1, unit, 1, 1, proofs, "archive", "exec sha256sum", "test");
        receipts.addToProtection(experiment, 1, proofs);
    }

    /** Settles the run for an experiment. */
    void settle(int experiment) {
        receipts.count(experiment);
        receipts.settled(new int[] {experiment}, 1);
    }

    static Digest digest(int entry) {
        return Digest.ofContent(new byte[] {(byte) entry});
    }
}
