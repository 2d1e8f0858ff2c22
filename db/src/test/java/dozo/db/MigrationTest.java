package dozo.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.jdbc.core.simple.JdbcClient;

class MigrationTest {

    @Test
    void migratesFromEmptyAndThenHasNothingToDo() {
        PGSimpleDataSource database = TestDatabase.empty();

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
        jdbc.sql("""
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now())
                """).update();
        String start =
                "insert into run (kind, site_id, state, requested_by, started_at) values ('nightlyBackup', 1, 'RUNNING', 'x', now())";
        jdbc.sql(start).update();

        assertThatThrownBy(() -> jdbc.sql(start).update()).hasMessageContaining("one_run_at_a_time");
    }

    private static void appendTo(JdbcClient jdbc, String subject) {
        jdbc.sql("insert into ledger (at, actor, action, subject) values (now(), 'test', 'test.done', :subject)")
                .param("subject", subject)
                .update();
    }
}
