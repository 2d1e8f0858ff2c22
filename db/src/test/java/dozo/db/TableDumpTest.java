package dozo.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.db.TableDump.Contents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

class TableDumpTest {

    /** All rows of a table as text, in any order. */
    private static final String DIGEST = "select coalesce(sum(hashtextextended(t::text, 0)), 0)::text from %s t";

    @TempDir
    private Path folder;

    @Test
    void loadingGivesTheSameRowsTriggersAndNumbers() throws SQLException, IOException {
        DataSource from = filled();
        Contents contents = dump(from);
        DataSource to = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(to);
        jdbc.sql("insert into project (code, created_at) values ('other', now())")
                .update();

        TableDump.check(folder, contents);
        load(to, contents);

        for (TableDump.Table table : contents.tables()) {
            assertThat(digest(to, table.name())).as(table.name()).isEqualTo(digest(from, table.name()));
        }
        assertThatThrownBy(() -> jdbc.sql("delete from receipt").update()).hasMessageContaining("evidence");
        assertThat(next(to)).as("the id of the next project").isEqualTo(next(from));
    }

    /** What is added while the files are written is in none of them. */
    @Test
    void allTablesAreOfOneMoment() throws Exception {
        DataSource from = filled();
        JdbcClient jdbc = JdbcClient.create(from);
        try (Connection adding = from.getConnection();
                ExecutorService thread = Executors.newSingleThreadExecutor()) {
            adding.setAutoCommit(false);
            adding.createStatement().execute("lock table project in access exclusive mode");
            Future<Contents> dumping = thread.submit(() -> dump(from));
            await().until(() -> jdbc.sql("select exists (select from pg_locks where not granted)")
                    .query(Boolean.class)
                    .single());
            adding.createStatement().execute("insert into project (code, created_at) values ('late', now())");
            adding.commit();

            assertThat(dumping.get().tables())
                    .filteredOn(table -> table.name().equals("project"))
                    .extracting(TableDump.Table::rows)
                    .containsExactly(1L);
        }
    }

    @Test
    void aFileThatIsNotWhatWasWrittenIsNamed() throws SQLException, IOException {
        Contents contents = dump(filled());
        Path file = folder.resolve("project.copy.gz");
        byte[] bytes = Files.readAllBytes(file);

        for (List<Integer> damage : List.of(List.of(bytes.length - 3, 0), List.of(bytes.length, 1))) {
            byte[] other = java.util.Arrays.copyOf(bytes, damage.get(0) + damage.get(1));
            Files.write(file, other);
            assertThatThrownBy(() -> TableDump.check(folder, contents)).isInstanceOf(IOException.class);
        }
        bytes[9]++;
        Files.write(file, bytes);
        assertThatThrownBy(() -> TableDump.check(folder, contents)).hasMessageContaining("project.copy.gz");
        Files.delete(file);
        assertThatThrownBy(() -> TableDump.check(folder, contents)).hasMessageContaining("project.copy.gz");
    }

    /** What fails leaves the tables as they were. */
    @Test
    void tablesOfAnotherVersionAreRefused() throws SQLException, IOException {
        Contents contents = dump(filled());
        DataSource to = TestDatabase.fresh();
        JdbcClient.create(to).sql("create table later (id integer)").update();

        assertThatThrownBy(() -> load(to, contents)).hasMessageContaining("later");
    }

    /** The description of a backup says nothing that the owner of the tables would run. */
    @Test
    void columnsThatTheTableDoesNotHaveAreRefused() throws SQLException, IOException {
        Contents contents = dump(filled());
        List<TableDump.Table> tables = contents.tables().stream()
                .map(table -> new TableDump.Table(
                        table.name(), List.of("code) from program 'false' --"), table.rows(), table.sha256()))
                .toList();

        assertThatThrownBy(() -> load(TestDatabase.fresh(), new Contents(tables, contents.sequences())))
                .hasMessageContaining("are not those of the backup");
    }

    private static DataSource filled() {
        DataSource database = TestDatabase.fresh();
        JdbcClient.create(database).sql("""
                insert into ledger (at, actor, action, subject, detail) values (now(), 'test', 'test.done', E'a\\nb\\t\\\\', '{}');
                insert into project (code, created_at) values ('p', now()), ('q', now());
                delete from project where code = 'q';
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                values (1, 'E1', 'filesystem', '\\x2f00ff0a', now(), 'test');
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'dr.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now());
                insert into run (kind, site_id, state, requested_by, started_at) values ('nightlyBackup', 1, 'RUNNING', 'test', now());
                insert into manifest values (1, 1, now(), 0, 0, 0, 0, 0, 0, 0, 0);
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                values (1, 1, 1, 1, '{1}', sha256('a'), 'm', 'w', now());
                """).update();
        return database;
    }

    private Contents dump(DataSource database) throws SQLException, IOException {
        try (Connection connection = database.getConnection()) {
            return TableDump.write(connection, folder);
        }
    }

    private void load(DataSource database, Contents contents) throws SQLException, IOException {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            TableDump.load(connection, folder, contents);
            connection.commit();
        }
    }

    private static String digest(DataSource database, String table) {
        return JdbcClient.create(database)
                .sql(DIGEST.formatted(table))
                .query(String.class)
                .single();
    }

    private static int next(DataSource database) {
        return JdbcClient.create(database)
                .sql("insert into project (code, created_at) values ('next', now()) returning project_id")
                .query(Integer.class)
                .single();
    }
}
