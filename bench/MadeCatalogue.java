import dozo.db.EmbeddedDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import org.flywaydb.core.Flyway;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Generated experiments in the real tables: ten years of a centre with one site and 200 projects.
 *
 * <pre>java -cp LIBRARIES MadeCatalogue.java FOLDER EXPERIMENTS ENTRIES</pre>
 *
 * creates them in the embedded database of a service with the work folder FOLDER.
 */
record MadeCatalogue(int experiments, long entries) {

    static final Instant BEGIN = Instant.parse("2016-01-01T00:00:00Z");
    static final int DAYS = 3_650;
    private static final long GIANT_MAX = 1_000_000;

    public static void main(String[] arguments) throws Exception {
        try (EmbeddedDatabase server = EmbeddedDatabase.start(Path.of(arguments[0]).resolve("postgres"));
                Connection connection = migrated(server).getConnection()) {
            new MadeCatalogue(Integer.parseInt(arguments[1]), Long.parseLong(arguments[2])).fill(connection);
        }
    }

    static PGSimpleDataSource migrated(EmbeddedDatabase server) {
        PGSimpleDataSource login = new PGSimpleDataSource();
        login.setUrl(server.url());
        login.setUser(server.owner().user());
        login.setPassword(server.owner().password());
        Flyway.configure().dataSource(login).load().migrate();
        return login;
    }

    /** Returns how many entries the first experiment has. */
    long giant() {
        return Math.min(entries / 10, GIANT_MAX);
    }

    /** Returns how many entries every other one has. */
    long usual() {
        return (entries - giant()) / (experiments - 1);
    }

    /**
     * Generates the catalogue. One experiment has a tenth of all entries, at most a million. Of every hundred entries,
     * five come with a later manifest. Bundles of four partitions alternate, so that the ranges of receipts overlap.
     * Each experiment has four manifests, each settled three hours later, except the last ones of the latest fiftieth.
     */
    void fill(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("set synchronous_commit = off");
            statement.execute("alter table protection disable trigger protection_is_remembered");
            for (String sql : List.of(REGISTRY, ENTRIES, MANIFESTS, RECEIPTS, TOTALS, FINDINGS)) {
                statement.execute(filled(sql, 1, experiments));
            }
            statement.execute("alter table protection enable trigger protection_is_remembered");
            vacuum(statement);
        }
    }

    /** Registers the experiments, without any data. */
    void register(Connection connection) throws SQLException {
        execute(connection, REGISTRY, 1, experiments);
    }

    /**
     * Adds receipts for all entries of these experiments; each counts as completely safe three hours after its seal.
     */
    void prove(Connection connection, int first, int last) throws SQLException {
        execute(connection, RECEIPTS + SAFE, first, last);
    }

    /**
     * Adds what else audit reports read: the readings of the last 400 days, which retention keeps, one of every receipt in 100
     * days; and the ledger of the last three years with 100 rows a day, of which 19 are certificates and one is an anchor.
     */
    void audit(Connection connection) throws SQLException {
        execute(connection, READINGS + LEDGER, 1, experiments);
        try (Statement statement = connection.createStatement()) {
            vacuum(statement);
        }
    }

    private static void vacuum(Statement statement) throws SQLException {
        statement.execute("vacuum analyze");
        statement.execute("checkpoint");
    }

    /** Adds findings for all experiments. */
    void find(Connection connection) throws SQLException {
        execute(connection, FINDINGS, 1, experiments);
    }

    private void execute(Connection connection, String sql, int first, int last) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("set synchronous_commit = off");
            statement.execute(filled(sql, first, last));
        }
    }

    private String filled(String sql, int first, int last) {
        return sql.replace(":experiments", String.valueOf(experiments))
                .replace(":giant", String.valueOf(giant()))
                .replace(":usual", String.valueOf(usual()))
                .replace(":days", String.valueOf(DAYS))
                .replace(":begin", "timestamptz '" + BEGIN + "'")
                .replace(":first", String.valueOf(first))
                .replace(":last", String.valueOf(last));
    }

    private static final String REGISTRY = """
            insert into project (code, created_at) select 'P' || to_char(n, 'FM000'), :begin from generate_series(1, 200) n;
            insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
            values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', :begin);
            insert into run (kind, site_id, state, requested_by, started_at, ended_at)
            select 'nightlyBackup', 1, 'COMPLETE', 'dozo', :begin + n * interval '1 day', :begin + n * interval '1 day' + interval '5 hours'
            from generate_series(1, :days) n;
            insert into experiment (project_id, code, title, source_kind, source_root, registered_at, registered_by, modality,
                                    scanner, acquired_on)
            select 1 + n % 200, 'S' || n,
                   (array['Rest', 'Faces', 'Finger tapping', 'N-back', '視覚課題'])[1 + dice % 5] || ', visit ' || dice / 5 % 97,
                   'filesystem', convert_to('/data/S' || n, 'UTF8'), at, 'importer',
                   case when n % 20 > 0 then (array['MR', 'MR', 'MR', 'MEG', 'EEG'])[1 + n % 5] end,
                   case when n % 20 > 0 then 'T' || n % 11 end, case when n % 50 > 0 then (at - interval '1 day')::date end
            from (select n, :begin + interval '1 day' * (n::float8 * (:days - 100) / :experiments) as at,
                         -- Titles that came in turns would show the planner's every hundredth row the same one.
                         hashint4(n) & 65535 as dice
                  from generate_series(1, :experiments) n) e;
            """;

    private static final String ENTRIES = """
            insert into directory (experiment_id, directory_no, path, first_entry_no, last_entry_no)
            select e, d, convert_to('folder' || d, 'UTF8'), 100 * d - 99, 100 * d
            from generate_series(1, :experiments) e,
                 generate_series(1, (case e when 1 then :giant else :usual end - 1) / 100 + 1) d;
            insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode,
                               kind, name)
            select e, k, (k - 1) / 100 + 1, case when k % 20 = 0 then 2 + k / 20 % 3 else 1 end, 300000, 0, 420, 'f',
                   convert_to('scan' || k || '.dcm', 'UTF8')
            from generate_series(1, :experiments) e, generate_series(1, case e when 1 then :giant else :usual end) k;
            """;

    private static final String MANIFESTS = """
            insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                  entries_changed, entries_gone)
            select experiment_id, m, registered_at + interval '20 hours' + (m - 1) * interval '24 days 1 second',
                   sum(came) over w, 300000 * sum(came) over w, 0, 0, came, 0, 0
            from (select experiment_id, since_manifest as m, count(*) as came from entry group by 1, 2) counted
            join experiment using (experiment_id)
            window w as (partition by experiment_id order by m)
            order by 3;
            """;

    private static final String RECEIPTS = """
            insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
            select e, 1, 'BUNDLE', array_agg(k), 300000 * count(*), 'VERIFIED', 1 + e % :days, k % 4
            from generate_series(:first, :last) e, generate_series(1, case e when 1 then :giant else :usual end) k
            group by e, k / 800, k % 4
            order by e, k / 800, k % 4;
            insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
            select experiment_id, 1, unit_id, run_id, entry_nos, decode(repeat('5a', 32 * cardinality(entry_nos)), 'hex'),
                   'exec sha256sum', 'worker', :begin + run_id * interval '1 day' + interval '3 hours'
            from transfer_unit where experiment_id between :first and :last order by unit_id;
            """;

    private static final String SAFE = """
            update protection set files_proven = files, bytes_proven = bytes where experiment_id between :first and :last;
            update protection
            set files_safe = files, bytes_safe = bytes, entries_safe = entries, safe_manifest = manifest_no,
                unprotected_since = null, files_proven = 0, bytes_proven = 0, counted_at = counted_at + interval '3 hours'
            where experiment_id between :first and :last;
            """;

    private static final String TOTALS = """
            insert into coverage (experiment_id, site_id, manifest_no, since, until, unprotected_since, files, bytes, entries,
                                  files_safe, bytes_safe, entries_safe, files_proven, bytes_proven, waited_seconds)
            select experiment_id, 1, manifest_no, since,
                   coalesce(lead(since) over (partition by experiment_id order by since), 'infinity'),
                   case when not safe then sealed_at end, files, bytes, files,
                   files - came, 300000 * (files - came), files - came, case when safe then entries_new else 0 end,
                   case when safe then 300000 * entries_new else 0 end, case when safe then 10800 + experiment_id % 9999 end
            from (select m.*, false as safe, sealed_at as since, entries_new as came from manifest m
                  union all
                  select m.*, true, sealed_at + interval '3 hours', 0 from manifest m
                  where manifest_no < 4 or experiment_id < 0.98 * :experiments) m
            order by since;
            insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                    entries_safe, safe_manifest, unprotected_since, counted_at)
            select experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe, entries_safe,
                   manifest_no - num_nonnulls(unprotected_since), unprotected_since, since
            from coverage where until = 'infinity';
            """;

    private static final String FINDINGS = """
            insert into finding (run_id, experiment_id, reason, path, message, found_at, superseded_by)
            select 1 + n % :days, 1 + n % :experiments, 'UNREADABLE', 'path', 'cannot be read',
                   :begin + (1 + n % :days) * interval '1 day' + interval '1 hour',
                   case when n % 50 > 0 then least(2 + n % :days, :days) end
            from generate_series(1, 5 * :experiments) n;
            insert into restore_batch (site_id, folder, state, requested_by, requested_at, ended_at)
            select 1, '/restore', 'STOPPED', 'boss', at, at + interval '1 minute' from (select :begin + :days * interval '1 day' as at) b;
            insert into restore_batch_item (batch_id, position, experiment_id, manifest_no)
            select batch_id, n, n, 1 from restore_batch, generate_series(1, :experiments) n;
            """;

    private static final String READINGS = """
            insert into reading (receipt_id, run_id, read_at, bytes, copies, cold, method)
            select receipt_id, 1 + floor(extract(epoch from at - :begin) / 86400), at, 300000, 1, true, 'exec sha256sum'
            from receipt, generate_series(verified_at, :begin + :days * interval '1 day' - interval '1 day', interval '100 days') at
            where at > verified_at and at > :begin + (:days - 400) * interval '1 day'
            order by at, receipt_id;
            """;

    private static final String LEDGER = """
            insert into ledger (at, actor, action, subject, detail)
            select :begin + (:days - 1095) * interval '1 day', 'dozo', 'key.introduced', repeat('ab', 32), '{"purpose": "certificates"}';
            insert into ledger (at, actor, action, subject, detail)
            select at, 'dozo', action, case action when 'ledger.anchored' then 'dr' else p.code || '/' || e.code || '#1' end,
                   case action when 'ledger.anchored' then jsonb_build_object('seq', no, 'hash', repeat('cd', 32))
                               when 'certificate.issued' then jsonb_build_object('site', 'dr', 'certificate_sha256', repeat('ef', 32))
                               else jsonb_build_object('files', '500', 'files_safe', '500') end
            from (select :begin + (:days - 1095 + day) * interval '1 day' + n * interval '1 minute' as at, day * 100 + n as no,
                         case when n = 100 then 'ledger.anchored' when n % 5 = 0 then 'certificate.issued' else 'experiment.settled' end
                             as action
                  from generate_series(0, 1094) day, generate_series(1, 100) n) made
            join experiment e on e.experiment_id = 1 + no % :experiments join project p using (project_id)
            order by no;
            """;
}
