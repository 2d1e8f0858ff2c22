package dozo.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A database role of an auditor reads the views of its projects, and nothing else. */
class AuditViewsTest {

    private static final Path PAGE = Path.of("../docs/reference/audit-views.md");
    private static final String BEGIN = "<!-- the views, from the database -->\n";

    private static final String PASSWORD = "only for this test";
    private static final AtomicInteger ROLES = new AtomicInteger();

    private final HikariDataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final String role =
            "auditor_%d_%d".formatted(ProcessHandle.current().pid(), ROLES.incrementAndGet());

    @BeforeEach
    void createRole() {
        execute("create role %s login password '%s'".formatted(role, PASSWORD));
        execute("""
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now());
                insert into project (code, created_at) values ('P1', now()), ('P2', now());
                insert into experiment (project_id, code, title, source_kind, source_root, registered_at, registered_by)
                values (1, 'A', 'mine', 'filesystem', '/a', now(), 'lab'), (2, 'B', 'secret', 'filesystem', '/b', now(), 'lab');
                insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                values ('nightlyBackup', 1, 'COMPLETE', 'dozo', now(), now());
                insert into directory (experiment_id, directory_no, path) values (1, 1, ''), (2, 1, '');
                insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name)
                select e, 1, 1, 1, 10, 0, 420, 'f', 'f' from generate_series(1, 2) e;
                insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new, entries_changed,
                                      entries_gone) select e, 1, now(), 1, 10, 0, 0, 1, 0, 0 from generate_series(1, 2) e;
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe, entries_safe,
                                        counted_at) select e, 1, 1, 1, 10, 1, 1, 10, 1, now() from generate_series(1, 2) e;
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                select e, 1, 'BUNDLE', '{1}', 10, 'VERIFIED', 1, 0 from generate_series(1, 2) e;
                insert into receipt (experiment_id, site_id, unit_id, run_id, manifest_no, entry_nos, digests, method, worker, verified_at)
                select e, 1, e, 1, 1, '{1}', sha256('a'), 'exec sha256sum', 'test', now() from generate_series(1, 2) e;
                insert into reading (receipt_id, run_id, read_at, bytes, copies, cold, method)
                select e, 1, now(), 10, 1, false, 'exec sha256sum' from generate_series(1, 2) e;
                insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind)
                select e, 1, 1, e, 1, now(), 'MISSING' from generate_series(1, 2) e;
                insert into finding (run_id, experiment_id, reason, message, found_at)
                select 1, e, 'MISSING', '', now() from generate_series(1, 2) e;
                insert into finding (run_id, reason, message, found_at) values (1, 'UNANCHORED', '', now());
                insert into restore (experiment_id, manifest_no, site_id, folder, state, requested_by, requested_at, ended_at)
                select e, 1, 1, convert_to('/scratch/' || e, 'UTF8'), 'COMPLETE', 'dozo', now(), now() from generate_series(1, 2) e;
                insert into drill (restore_id) values (1), (2);
                insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at)
                select e, 'E' || e, e, now(), 'x', 'lab', now() from generate_series(1, 2) e;
                insert into hold (project_id, reason, placed_by, placed_at) values (1, 'x', 'admin', now()), (2, 'x', 'admin', now());
                insert into ledger (at, actor, action, subject)
                values (now(), 'lab', 'experiment.registered', 'P1/A'), (now(), 'lab', 'experiment.registered', 'P2/B'),
                       (now(), 'dozo', 'manifest.sealed', 'P1/A#1'), (now(), 'dozo', 'manifest.sealed', 'P2/B#1'),
                       (now(), 'admin', 'site.registered', 'P1'), (now(), 'admin', 'project.created', 'P11');
                """);
    }

    @AfterEach
    void dropRole() {
        execute("drop owned by %1$s; drop role %1$s".formatted(role));
    }

    @Test
    void aRoleSeesItsProjectInEveryViewAndNoRowOfAnother() throws SQLException {
        admit("'P1'");

        try (Connection auditor = connect()) {
            for (String view : views()) {
                String column = view.equals("ledger") ? "regexp_replace(subject, '[/#].*', '')" : "project";
                assertThat(list(auditor, "select distinct %s from audit.%s".formatted(column, view)))
                        .as(view)
                        .containsExactly("P1");
            }
            assertThat(list(auditor, "select action from audit.ledger order by seq"))
                    .as("not of the site that is named like the project")
                    .containsExactly("experiment.registered", "manifest.sealed");
        }
    }

    @Test
    void aRoleThatIsAdmittedToAllProjectsSeesAllRows() throws SQLException {
        admit("null");

        try (Connection auditor = connect()) {
            assertThat(list(auditor, "select project from audit.project order by project"))
                    .containsExactly("P1", "P2");
            assertThat(list(auditor, "select count(*) from audit.ledger")).containsExactly("7");
        }
    }

    @Test
    void aRoleReadsNoTableAndChangesNothing() throws SQLException {
        admit("'P1'");

        List<String> tables = jdbc.sql("""
                        select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
                        where n.nspname = 'public' and c.relkind in ('r', 'p', 'v', 'm', 'S')
                        """).query(String.class).list();
        assertThat(tables).hasSizeGreaterThan(60);
        try (Connection auditor = connect()) {
            for (String table : tables) {
                refused(auditor, "select * from " + table);
            }
            for (String view : views()) {
                assertThat(list(
                                auditor,
                                "select has_table_privilege('audit.%s', 'insert, update, delete, truncate, trigger, references')"
                                        .formatted(view)))
                        .as(view)
                        .containsExactly("f");
            }
            refused(auditor, "delete from audit.project");
            refused(auditor, "update audit.project set title = 'x'");
            refused(auditor, "create table mine (n int)");
            refused(auditor, "create view audit.mine as select 1");
            refused(auditor, "call audit.admit('%s', 'P2')".formatted(role));
            refused(auditor, "call audit.dismiss('%s')".formatted(role));
            refused(auditor, "set role " + database.getUsername());
        }
    }

    /** A cheap function in the condition would see rows before the view's own condition, were the views no barriers. */
    @Test
    void conditionsOfTheRoleNeverSeeRowsOfOthers() throws SQLException {
        admit("'P1'");

        try (Connection auditor = connect();
                Statement statement = auditor.createStatement()) {
            statement.execute("""
                    create function pg_temp.spy(text) returns boolean language plpgsql cost 0.0000001
                    as $$ begin raise notice '%', $1; return true; end $$
                    """);
            for (String view : views()) {
                statement.clearWarnings();
                statement.executeQuery("select * from audit.%1$s v where pg_temp.spy(v::text)".formatted(view));
                List<String> seen = new ArrayList<>();
                for (SQLWarning each = statement.getWarnings(); each != null; each = each.getNextWarning()) {
                    seen.add(each.getMessage());
                }
                assertThat(seen).as(view).isNotEmpty().noneMatch(row -> row.contains("P2"));
            }
        }
    }

    @Test
    void whoIsNotAdmittedOrNoLongerSeesNothing() throws SQLException {
        try (Connection auditor = connect()) {
            refused(auditor, "select * from audit.project");
            admit("'P1'");
            assertThat(list(auditor, "select project from audit.project")).containsExactly("P1");
            execute("call audit.dismiss('%s')".formatted(role));
            refused(auditor, "select * from audit.project");
        }
        assertThat(jdbc.sql("select action from ledger where subject = :role order by seq")
                        .param("role", role)
                        .query(String.class)
                        .list())
                .containsExactly("reader.admitted", "reader.dismissed");
    }

    @Test
    void onlyRolesWithoutOtherRightsAreAdmitted() {
        assertThatThrownBy(() -> execute("call audit.admit('%s', 'P1')".formatted(database.getUsername())))
                .hasMessageContaining("has other rights");
        assertThatThrownBy(() -> admit("'P9'")).hasMessageContaining("project \"P9\" does not exist");
        assertThatThrownBy(() -> execute("call audit.admit('nobody at all', 'P1')"))
                .hasMessageContaining("does not exist");
        execute("grant select on ledger to " + role);
        assertThatThrownBy(() -> admit("'P1'")).hasMessageContaining("has rights on Dozo's tables");
    }

    /** Write it anew with {@code -Dwrite.docs=true}. */
    @Test
    void everyColumnHasAMeaningAndThePageNamesIt() throws IOException {
        StringBuilder lists = new StringBuilder();
        for (String view : views()) {
            String columns = jdbc
                    .sql("""
                            select attname, col_description(attrelid, attnum) as meaning
                            from pg_attribute where attrelid = ('audit.' || :view)::regclass and attnum > 0 order by attnum
                            """)
                    .param("view", view)
                    .query((row, n) -> {
                        assertThat(row.getString("meaning"))
                                .as("%s.%s", view, row.getString("attname"))
                                .isNotNull();
                        return "`%s`".formatted(row.getString("attname"));
                    })
                    .stream()
                    .collect(Collectors.joining(", "));
            String meaning = jdbc.sql("select obj_description(('audit.' || :view)::regclass)")
                    .param("view", view)
                    .query(String.class)
                    .single();
            lists.append("\n- **`audit.%s`**: %s.\n  %s\n".formatted(view, meaning, columns));
        }
        String page = Files.readString(PAGE);
        String expected = page.substring(0, page.indexOf(BEGIN) + BEGIN.length()) + lists;
        if (Boolean.getBoolean("write.docs")) {
            Files.writeString(PAGE, expected);
        }
        assertThat(Files.readString(PAGE)).isEqualTo(expected);
    }

    private void admit(String project) {
        execute("call audit.admit('%s', %s)".formatted(role, project));
    }

    private List<String> views() {
        return jdbc.sql(
                        "select relname from pg_class where relnamespace = 'audit'::regnamespace and relkind = 'v' order by 1")
                .query(String.class)
                .list();
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(database.getJdbcUrl(), role, PASSWORD);
    }

    private static List<String> list(Connection connection, String query) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(query)) {
            while (result.next()) {
                rows.add(result.getString(1));
            }
        }
        return rows;
    }

    private static void refused(Connection connection, String sql) {
        assertThatThrownBy(() -> {
                    try (Statement statement = connection.createStatement()) {
                        statement.execute(sql);
                    }
                })
                .as(sql)
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("permission denied");
    }

    private void execute(String sql) {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }
}
