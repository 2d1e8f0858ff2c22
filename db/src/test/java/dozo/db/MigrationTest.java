package dozo.db;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.jdbc.core.simple.JdbcClient;

class MigrationTest {

    private static final String LANDED = "landed-migrations.sha256";

    private static final String START_RUN =
            "insert into run (kind, site_id, state, requested_by, started_at) values ('nightlyBackup', 1, 'RUNNING', 'x', now())";

    @Test
    void migratesFromEmptyAndThenHasNothingToDo() {
        HikariDataSource database = TestDatabase.empty();

        assertThat(TestDatabase.migrate(database)).isPositive();
        assertThat(TestDatabase.migrate(database)).isZero();
    }

    /** Databases have what has landed: an edited, removed or overtaken migration would make this program refuse them. */
    @Test
    void migrationsAreTheListedOnesInTheirOrder() throws IOException {
        List<String> migrations = new ArrayList<>();
        for (Resource file : new PathMatchingResourcePatternResolver().getResources("classpath:db/migration/V*.sql")) {
            migrations.add(sha256(file.getContentAsByteArray()) + "  " + file.getFilename());
        }
        migrations.sort(Comparator.comparing(line -> line.substring(line.indexOf(' '))));

        assertThat(migrations)
                .as("add a new migration's line at the end of " + LANDED + ", and change no other one")
                .containsExactlyElementsOf(new ClassPathResource(LANDED)
                        .getContentAsString(StandardCharsets.UTF_8)
                        .lines()
                        .toList());
    }

    /** Otherwise the list could be edited together with a migration. What was never landed, in a branch, may have had another order. */
    @Test
    void theListOfMigrationsHasOnlyGrown() throws Exception {
        Path top = Path.of("").toAbsolutePath();
        while (!Files.exists(top.resolve("dozo"))) {
            top = requireNonNull(top.getParent());
        }
        if (!Files.exists(top.resolve(".git"))) {
            return;
        }
        String path = "db/src/test/resources/" + LANDED;
        String now = Files.readString(top.resolve(path));
        for (String commit : git(top, "log", "--first-parent", "--format=%H", "--", path)
                .lines()
                .toList()) {
            assertThat(now).startsWith(git(top, "show", commit + ":" + path));
        }
    }

    private static String sha256(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String git(Path folder, String... words) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("git", "-c", "safe.directory=*", "-C", folder.toString()));
        command.addAll(List.of(words));
        Process git = new ProcessBuilder(command).start();
        String said = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(git.waitFor()).as(String.join(" ", command)).isZero();
        return said;
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
                        """).query(Boolean.class).list();

        assertThat(links).containsExactly(true, true, true);
        assertThat(jdbc.sql("select seq from ledger order by seq")
                        .query(Long.class)
                        .list())
                .containsExactly(1L, 2L, 3L);
    }

    /**
     * A transaction plans the query for the last row while the ledger is small; the plan must stay good after 100,000
     * more rows.
     */
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
                        """).query(Long.class).single();

        assertThat(read).as("rows read one after the other").isZero();
    }

    @Test
    void ledgerReceiptsAndManifestsRefuseChange() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
        appendTo(jdbc, "first");
        jdbc.sql("""
                insert into project (code, created_at) values ('p', now());
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'E1', 'filesystem', '/data', now(), 'test');
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now());
                insert into run (kind, site_id, state, requested_by, started_at) values ('nightlyBackup', 1, 'RUNNING', 'test', now());
                insert into manifest values (1, 1, now(), 0, 0, 0, 0, 0, 0, 0, 0);
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                values (1, 1, 1, 1, '{1}', sha256('a'), 'm', 'w', now());
                """).update();

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
                        .query(Boolean.class)
                        .single())
                .isTrue();
    }

    /** Calling it once per entry would cost more than the rest of its queries. */
    @Test
    void entryPathIsPutIntoTheQueryThatCallsIt() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());

        List<String> plan = jdbc.sql("""
                        explain (verbose, costs off)
                        select entry_path(d.path, e.name) from entry e join directory d using (experiment_id, directory_no)
                        """).query(String.class).list();

        assertThat(plan)
                .anySatisfy(line -> assertThat(line).contains("CASE WHEN (d.path = "))
                .noneSatisfy(line -> assertThat(line).contains("entry_path"));
    }

    /** A user who sees everything needs no check; a user who sees some projects needs only the index of their codes. */
    @Test
    void inSightIsPutIntoTheQueryThatCallsIt() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());

        assertThat(list(jdbc, "explain (costs off) select * from project where in_sight(null, code)"))
                .containsExactly("Seq Scan on project");
        assertThat(list(jdbc, "explain (costs off) select * from project where in_sight(array['a', 'b'], code)"))
                .anySatisfy(line -> assertThat(line).contains("(code = ANY ('{a,b}'::text[]))"))
                .noneSatisfy(line -> assertThat(line).contains("in_sight"));
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

    /** A nullable or dropped column of an entry would cost 8 bytes per row. */
    @Test
    void entriesHaveNoColumnThatMayBeNull() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());

        assertThat(list(
                        jdbc,
                        "select attname from pg_attribute where attrelid = 'entry'::regclass and attnum > 0"
                                + " and (attisdropped or not attnotnull)"))
                .isEmpty();
    }

    /** Called as it is, it would collect a folder's entries before the first of them is read. */
    @Test
    void entriesOfAFolderAreFoundByTheirNumbers() {
        JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());

        List<String> plan = list(jdbc, "explain (costs off) select * from entries_of(1, 2)");

        assertThat(plan)
                .noneSatisfy(line -> assertThat(line).contains("Function Scan"))
                .anySatisfy(line -> assertThat(line).contains("(entry_no >= d.first_entry_no)"));
    }

    private static List<String> list(JdbcClient jdbc, String query) {
        return jdbc.sql(query).query(String.class).list();
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
