package dozo.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import java.util.List;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationVersion;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

class MigrationTest {

    private static final String START_RUN =
            "insert into run (kind, site_id, state, requested_by, started_at) values ('nightlyBackup', 1, 'RUNNING', 'x', now())";

    @Test
    void migratesFromEmptyAndThenHasNothingToDo() {
        HikariDataSource database = TestDatabase.empty();

        assertThat(TestDatabase.migrate(database)).isPositive();
        assertThat(TestDatabase.migrate(database)).isZero();
    }

    @Test
    void ledgerRowsAreChainedAndNumberedWithoutGaps() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
        appendTo(jdbc, "first");
        appendTo(jdbc, "second");
        appendTo(jdbc, "third");

        List<Boolean> links = jdbc.sql("""
                        select hash = ledger_hash(coalesce(lag(hash) over (order by seq), ''::bytea), seq, at, actor, action,
                                                  subject, detail)
                        from ledger order by seq
                        """).query((row, n) -> row.getBoolean(1)).list();

        assertThat(links).containsExactly(true, true, true);
        assertThat(jdbc.sql("select seq from ledger order by seq")
                        .query((row, n) -> row.getLong(1))
                        .list())
                .containsExactly(1L, 2L, 3L);
    }

    /** A transaction's plan for the last row is made while the ledger is small, and holds when it has grown by 100,000. */
    @Test
    void theLastRowIsNeverLookedForInAllOfTheLedger() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
        appendTo(jdbc, "first");
        jdbc.sql("analyze ledger").update();

        long read = jdbc.sql("""
                        with appended as (
                            insert into ledger (at, actor, action, subject, detail)
                            select now(), 'test', 'test.done', n::text, '{}' from generate_series(1, 500) n
                            returning seq
                        )
                        select pg_stat_get_xact_tuples_returned('ledger'::regclass) + 0 * max(seq) from appended
                        """).query((row, n) -> row.getLong(1)).single();

        assertThat(read).as("rows read one after the other").isZero();
    }

    @Test
    void ledgerReceiptsAndManifestsRefuseChange() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
        appendTo(jdbc, "first");

        for (String change : List.of(
                "update ledger set actor = 'x'",
                "delete from ledger",
                "truncate ledger",
                "update receipt set method = 'x'",
                "delete from receipt",
                "update manifest set files = 0",
                "delete from manifest")) {
            assertThatThrownBy(() -> jdbc.sql(change).update())
                    .as(change)
                    .hasMessageContaining("evidence: they are appended, never changed or removed");
        }
    }

    @Test
    void entryPathJoinsBytesAndTheRootsEntriesHaveNoSlash() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());

        assertThat(jdbc.sql("select entry_path('', '\\x94') = '\\x94' and entry_path('a/b', '\\x94') = '\\x612f622f94'")
                        .query((row, n) -> row.getBoolean(1))
                        .single())
                .isTrue();
    }

    /** Called once an entry, it would cost more than the rest of its queries. */
    @Test
    void entryPathIsPutIntoTheQueryThatCallsIt() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());

        List<String> plan = jdbc.sql("""
                        explain (verbose, costs off)
                        select entry_path(d.path, e.name) from entry e join directory d using (experiment_id, directory_no)
                        """).query((row, n) -> row.getString(1)).list();

        assertThat(plan)
                .anySatisfy(line -> assertThat(line).contains("CASE WHEN (d.path = "))
                .noneSatisfy(line -> assertThat(line).contains("entry_path"));
    }

    @Test
    void onlyOneRunRunsAtATime() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
        startRun(jdbc);

        assertThatThrownBy(() -> jdbc.sql(START_RUN).update()).hasMessageContaining("one_run_at_a_time");
    }

    @Test
    void aCostModelIsKeptAndNonsenseIsNot() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
        startRun(jdbc);
        String insert = """
                insert into cost_model (site_id, run_id, measured_at, bytes, entries, lanes, seconds, bytes_per_second,
                                        seconds_per_entry, measurements)
                values (1, 1, now(), %s, %s, %s, %s, %s, %s, %s)
                """;

        assertThat(jdbc.sql(insert.formatted("0", "1", "64", "0.5", "1e3", "0", "1"))
                        .update())
                .isEqualTo(1);
        for (String nonsense : List.of(
                "-1, 1, 4, 60, 1e6, 0, 1",
                "0, 0, 4, 60, 1e6, 0, 1",
                "0, 1, 0, 60, 1e6, 0, 1",
                "0, 1, 65, 60, 1e6, 0, 1",
                "0, 1, 4, 0, 1e6, 0, 1",
                "0, 1, 4, 'NaN', 1e6, 0, 1",
                "0, 1, 4, 'infinity', 1e6, 0, 1",
                "0, 1, 4, 60, 999, 0, 1",
                "0, 1, 4, 60, 'NaN', 0, 1",
                "0, 1, 4, 60, 'infinity', 0, 1",
                "0, 1, 4, 60, 1e6, -1, 1",
                "0, 1, 4, 60, 1e6, 'NaN', 1",
                "0, 1, 4, 60, 1e6, 3601, 1",
                "0, 1, 4, 60, 1e6, 0, 0")) {
            assertThatThrownBy(() -> jdbc.sql(insert.formatted((Object[]) nonsense.split(", ")))
                            .update())
                    .as(nonsense)
                    .hasMessageContaining("violates check constraint");
        }
    }

    /** V202611200007: whatever state a large file's ranges and their whole were in when the service was upgraded. */
    @Test
    void largeFilesInRangesBecomeOneUnitEachAndKeepTheirReceipts() {
        HikariDataSource database = TestDatabase.empty();
        migrate(database, "202611200006");
        JdbcClient jdbc = JdbcClient.create(database);
        startRun(jdbc);
        jdbc.sql("""
                insert into project (code, created_at) values ('p', now());
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'e', 'filesystem', '/e', now(), 'x');
                """).update();
        addUnits(jdbc, 1, "RANGE", "VERIFIED", "RANGE", "VERIFIED", "WHOLE", "VERIFIED");
        addUnits(jdbc, 2, "RANGE", "SENT", "RANGE", "PLANNED", "WHOLE", "PLANNED");
        addUnits(jdbc, 3, "RANGE", "FAILED", "RANGE", "FAILED", "WHOLE", "FAILED");
        addUnits(jdbc, 4, "RANGE", "CANCELLED", "WHOLE", "CANCELLED");
        addUnits(jdbc, 5, "BUNDLE", "VERIFIED");
        addUnits(jdbc, 6, "BUNDLE", "PLANNED");
        addUnits(jdbc, 7, "BUNDLE", "FAILED");
        jdbc.sql("""
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                select 1, 1, unit_id, 1, entry_nos, sha256('x'), 'read-back', 'x', now()
                from transfer_unit where kind <> 'RANGE' and state = 'VERIFIED'
                """).update();

        migrate(database, "202611200007");

        assertThat(list(jdbc, "select entry_nos[1] || ' ' || kind || ' ' || state from transfer_unit order by unit_id"))
                .containsExactly(
                        "1 LARGE VERIFIED",
                        "2 LARGE CANCELLED",
                        "3 LARGE CANCELLED",
                        "4 LARGE CANCELLED",
                        "5 BUNDLE VERIFIED",
                        "6 BUNDLE PLANNED",
                        "7 BUNDLE FAILED");
        assertThat(list(
                        jdbc,
                        "select entry_nos[1] || ' ' || u.kind from receipt join transfer_unit u using (unit_id, entry_nos)"
                                + " order by receipt_id"))
                .containsExactly("1 LARGE", "5 BUNDLE");
        for (String gone : List.of("kind = 'RANGE'", "kind = 'WHOLE'", "state = 'SENT'")) {
            assertThatThrownBy(
                            () -> jdbc.sql("update transfer_unit set " + gone).update())
                    .as(gone)
                    .hasMessageContaining("violates check constraint");
        }
    }

    /** V202611210001: what is in the catalogue stays, and every folder is looked at closely once. */
    @Test
    void manifestsOfAnEarlierSchemaAreKept() {
        HikariDataSource database = TestDatabase.empty();
        migrate(database, "202611200007");
        JdbcClient jdbc = JdbcClient.create(database);
        jdbc.sql("""
                insert into project (code, created_at) values ('p', now());
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'e', 'filesystem', '/e', now(), 'x');
                insert into directory values (1, 1, 'sub');
                insert into entry values (1, 1, 1, 1, 2, 10, 20, 30, null, 420, 'f', 'old', null),
                                         (1, 2, 1, 2, null, 11, 21, 31, 7, 420, 'f', 'new', null);
                insert into manifest values (1, 1, now(), 1, 10, 0, 0, 1, 0, 0), (1, 2, now(), 1, 11, 0, 0, 0, 1, 0);
                """).update();

        migrate(database, "202611210001");

        assertThat(list(
                        jdbc,
                        "select concat_ws(' ', entry_no, until_manifest, size_bytes, name) from entry order by 1"))
                .containsExactly("1 2 10 \\x6f6c64", "2 11 \\x6e6577");
        assertThat(list(jdbc, "select concat_ws(' ', entries, fingerprint) from directory"))
                .containsExactly("0");
        assertThat(list(jdbc, "select tripwire_percent || ' ' || tripwire_entries from project"))
                .containsExactly("20 100");
    }

    /** V202611210002: totals stand beside what is safe of them at every site, and the record of what was begins. */
    @Test
    void whatWasProtectedBeforeIsWhereTheRecordBegins() {
        HikariDataSource database = TestDatabase.empty();
        migrate(database, "202611200007");
        JdbcClient jdbc = JdbcClient.create(database);
        startRun(jdbc);
        jdbc.sql("""
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('second', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now());
                insert into project (code, created_at) values ('p', now());
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                select 1, code, 'filesystem', convert_to('/' || code, 'UTF8'), now(), 'x'
                from unnest(array['changed', 'safe', 'unseen']) code;
                insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                      entries_changed, entries_gone)
                values (1, 1, '2026-10-01T00:00Z', 2, 20, 1, 0, 3, 0, 0), (1, 2, '2026-10-02T00:00Z', 3, 30, 1, 0, 1, 0, 0),
                       (1, 3, '2026-10-03T00:00Z', 4, 40, 1, 0, 1, 0, 0), (2, 1, '2026-10-04T00:00Z', 1, 10, 0, 0, 1, 0, 0);
                insert into protection (experiment_id, site_id, files, bytes, entries, safe_manifest, counted_at)
                values (1, 1, 2, 20, 3, 1, '2026-10-03T00:00Z'), (2, 1, 1, 10, 1, 1, '2026-10-04T00:00Z');
                """).update();

        migrate(database, "202611210002");

        String totals = """
                site_id || ': ' || experiment_id || '#' || manifest_no || ' ' || files_safe || '/' || files || ' '
                || bytes_safe || '/' || bytes || ' ' || entries_safe || '/' || entries || ' '
                || coalesce(to_char(unprotected_since at time zone 'UTC', 'MM-DD'), 'safe')
                """;
        List<String> expected = List.of(
                "1: 1#3 2/4 20/40 3/5 10-02",
                "1: 2#1 1/1 10/10 1/1 safe",
                "2: 1#3 0/4 0/40 0/5 10-01",
                "2: 2#1 0/1 0/10 0/1 10-04");
        assertThat(list(jdbc, "select " + totals + " from protection order by 1"))
                .isEqualTo(expected);
        assertThat(list(jdbc, "select " + totals + " from coverage where until = 'infinity' order by 1"))
                .isEqualTo(expected);
    }

    /** V202611210009: entries that ended, links and the places of folders' entries are moved to where they are looked for. */
    @Test
    void entriesOfAnEarlierSchemaAreMovedToTheTablesOfTheirKind() {
        HikariDataSource database = TestDatabase.empty();
        migrate(database, "202611210004");
        JdbcClient jdbc = JdbcClient.create(database);
        jdbc.sql("""
                insert into directory (experiment_id, directory_no, path, entries, fingerprint)
                values (1, 1, '', 2, sha256('x')), (1, 2, 'later', 1, sha256('y')), (2, -1, '', 1, null);
                insert into entry (experiment_id, entry_no, directory_no, since_manifest, until_manifest, size_bytes, modified_ns,
                                   hard_link, mode, kind, name, link_target)
                values (1, 1, 1, 1, 2, 10, 20, null, 420, 'f', 'ended', null),
                       (1, 2, 1, 1, null, 11, 21, 7, 420, 'f', 'hard', null),
                       (1, 3, 1, 1, 3, 0, 22, null, 511, 'l', 'link', 'there'),
                       (1, 4, 2, 2, null, 12, 23, null, 420, 'f', 'new', null),
                       (2, 1, -1, 1, null, 13, 24, null, 420, 'f', 'other', null);
                """).update();

        migrate(database, "202611210009");

        assertThat(list(jdbc, """
                        select concat_ws(' ', experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode,
                                         kind, name, until_manifest)
                        from entry_version order by experiment_id, entry_no
                        """))
                .containsExactly(
                        "1 1 1 1 10 20 420 f \\x656e646564 2",
                        "1 2 1 1 11 21 420 f \\x68617264",
                        "1 3 1 1 0 22 511 l \\x6c696e6b 3",
                        "1 4 2 2 12 23 420 f \\x6e6577",
                        "2 1 -1 1 13 24 420 f \\x6f74686572");
        assertThat(
                        list(
                                jdbc,
                                "select concat_ws(' ', experiment_id, entry_no, hard_link, link_target) from entry_link order by entry_no"))
                .containsExactly("1 2 7", "1 3 \\x7468657265");
        assertThat(list(
                        jdbc,
                        "select concat_ws(' ', experiment_id, directory_no, first_entry_no, last_entry_no, entries, fingerprint)"
                                + " from directory order by experiment_id, directory_no"))
                .containsExactly("1 1 1 3 2", "1 2 0 0 1", "2 -1 1 1 1");
        assertThat(list(
                        jdbc,
                        "select d.directory_no || ': ' || e.entry_no from directory d, entries_of(1, d.directory_no) e"
                                + " where d.experiment_id = 1 order by 1"))
                .containsExactly("1: 2", "2: 4");
        assertThat(list(
                        jdbc,
                        "select entry_no from versions_of(1, 1, 'ended') union all "
                                + "select entry_no from versions_of(2, -1, 'other')"))
                .containsExactly("1", "1");
        assertThat(list(jdbc, "select relname from pg_class where relname like '%before%'"))
                .isEmpty();
    }

    /** V202611210011: what was proven before scrubs were there is read again too, from when it was proven. */
    @Test
    void receiptsOfAnEarlierSchemaAreReadAgainInTheOrderTheyWereProven() {
        HikariDataSource database = TestDatabase.empty();
        migrate(database, "202611210009");
        JdbcClient jdbc = JdbcClient.create(database);
        startRun(jdbc);
        jdbc.sql("""
                insert into project (code, created_at) values ('p', now());
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'e', 'filesystem', '/e', now(), 'x');
                insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name)
                values (1, 1, 1, 1, 10, 0, 420, 'f', 'a'), (1, 2, 1, 1, 0, 0, 493, 'd', 'b'), (1, 3, 1, 2, 30, 0, 420, 'f', 'c');
                insert into ended_entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind,
                                         name, until_manifest)
                values (1, 4, 1, 1, 400, 0, 420, 'f', 'd', 2);
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                        entries_safe, counted_at)
                values (1, 1, 2, 2, 40, 3, 2, 40, 3, now());
                """).update();
        addUnits(jdbc, 1, "BUNDLE", "VERIFIED", "BUNDLE", "VERIFIED");
        jdbc.sql("""
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                select 1, 1, unit_id, 1, numbers, d, 'read-back', 'x', at
                from (values (1, array[3, 4], sha256('c') || sha256('d'), timestamptz '2026-10-02 00:00Z'),
                             (2, array[1, 2], sha256('a') || sha256(''), timestamptz '2026-10-01 00:00Z')) as r (n, numbers, d, at)
                join (select unit_id, row_number() over (order by unit_id) as n from transfer_unit) u using (n)
                """).update();

        migrate(database, "202611210011");

        assertThat(list(
                        jdbc,
                        "select concat_ws(' ', receipt_id, files, bytes, last_read_at at time zone 'UTC')"
                                + " from stored order by last_read_at"))
                .containsExactly("2 1 10 2026-10-01 00:00:00", "1 2 430 2026-10-02 00:00:00");
        assertThat(list(
                        jdbc,
                        "select concat_ws(' ', files_stored, bytes_stored, files_safe, coalesce(examined_at::text, '-'))"
                                + " from protection"))
                .containsExactly("3 440 2 -");
        assertThat(list(jdbc, "select entry_no::text from proven_entry order by entry_no"))
                .containsExactly("1", "2", "3", "4");
        jdbc.sql("""
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                select 1, 1, min(unit_id), 1, array[1], sha256('a'), 'read-back', 'x', now() from transfer_unit
                """).update();
        assertThat(list(jdbc, "select concat_ws(' ', files, bytes) from stored where receipt_id = 3"))
                .as("and so is what is proven from now on")
                .containsExactly("1 10");
    }

    /** A null among an entry's columns, or one that was dropped, would cost 8 bytes a row. */
    @Test
    void entriesHaveNoColumnThatMayBeNull() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());

        assertThat(list(
                        jdbc,
                        "select attname from pg_attribute where attrelid = 'entry'::regclass and attnum > 0"
                                + " and (attisdropped or not attnotnull)"))
                .isEmpty();
    }

    /** Called as it stands, it would gather a folder's entries before the first of them is looked at. */
    @Test
    void entriesOfAFolderAreFoundByTheirNumbers() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());

        List<String> plan = list(jdbc, "explain (costs off) select * from entries_of(1, 2)");

        assertThat(plan)
                .noneSatisfy(line -> assertThat(line).contains("Function Scan"))
                .anySatisfy(line -> assertThat(line).contains("(entry_no >= d.first_entry_no)"));
    }

    /** Units of one entry: kind and state in turns. */
    private static void addUnits(JdbcClient jdbc, int entry, String... kindsAndStates) {
        for (int i = 0; i < kindsAndStates.length; i += 2) {
            jdbc.sql("""
                            insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id,
                                                       partition_no)
                            values (1, 1, :kind, array[:entry::integer], 10, :state, 1, 0)
                            """)
                    .param("entry", entry)
                    .param("kind", kindsAndStates[i])
                    .param("state", kindsAndStates[i + 1])
                    .update();
        }
    }

    private static void migrate(HikariDataSource database, String version) {
        Flyway.configure()
                .dataSource(database)
                .target(MigrationVersion.fromVersion(version))
                .load()
                .migrate();
    }

    private static List<String> list(JdbcClient jdbc, String query) {
        return jdbc.sql(query).query((row, n) -> row.getString(1)).list();
    }

    private static void startRun(JdbcClient jdbc) {
        jdbc.sql("""
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now())
                """).update();
        jdbc.sql(START_RUN).update();
    }

    private static void appendTo(JdbcClient jdbc, String subject) {
        jdbc.sql("insert into ledger (at, actor, action, subject) values (now(), 'test', 'test.done', :subject)")
                .param("subject", subject)
                .update();
    }
}
