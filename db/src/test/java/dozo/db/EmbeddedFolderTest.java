package dozo.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.EmbeddedDatabase.Access;
import dozo.db.EmbeddedDatabase.OtherMajor;
import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Data of two major versions of PostgreSQL in one folder, and processes that end between. */
class EmbeddedFolderTest {

    private static final Instant NOW = Instant.parse("2026-11-29T04:03:52Z");
    private static final int HERE = 18;

    @TempDir
    private Path folder;

    @BeforeEach
    void unpack() throws IOException {
        TestDatabase.unpacked(folder);
    }

    @Test
    void dataOfAnEarlierVersionIsRefusedWithTheCommandThatUpgradesIt() throws Exception {
        fill(OtherPostgres.MAJOR, "old");

        assertThatThrownBy(() -> EmbeddedDatabase.start(folder))
                .isInstanceOf(OtherMajor.class)
                .hasMessageContainingAll("is of PostgreSQL 17", "has PostgreSQL 18", "dozo upgrade-database");

        try (EmbeddedFolder held = EmbeddedFolder.hold(folder)) {
            assertThat(word(held, held.current())).isEqualTo("old");
        }
    }

    @Test
    void dataOfALaterVersionIsRefusedWithTheWayBack() throws Exception {
        fill(HERE, "new");

        assertThatThrownBy(() -> EmbeddedDatabase.start(folder, true, OtherPostgres.programs()))
                .isInstanceOf(OtherMajor.class)
                .hasMessageContainingAll("is of PostgreSQL 18", "has PostgreSQL 17", "upgrade-database --back");
    }

    /** The states that a process can leave which ends in an exchange: after the journal, the first rename and the second. */
    @Test
    void anExchangeThatWasInterruptedIsCompletedByTheNextStart() throws Exception {
        fill(OtherPostgres.MAJOR, "old");
        next("new");
        Path aside = folder.resolve("data-17-20261129T040352Z");
        List<String> journal = List.of("data-17-20261129T040352Z", "upgrade/data");
        for (int renames = 0; renames <= 2; renames++) {
            Files.write(folder.resolve("exchange"), journal);
            if (renames > 0) {
                Files.move(folder.resolve("data"), aside);
            }
            if (renames > 1) {
                Files.move(folder.resolve("upgrade/data"), folder.resolve("data"));
            }
            assertThatThrownBy(() -> EmbeddedDatabase.start(folder, true, OtherPostgres.programs()))
                    .as("the later version is in use")
                    .isInstanceOf(OtherMajor.class);
            assertThat(folder.resolve("exchange")).doesNotExist();
            try (EmbeddedFolder held = EmbeddedFolder.hold(folder)) {
                assertThat(word(held, held.current())).isEqualTo("new");
                assertThat(held.earlier()).contains(aside);
                assertThat(word(held, aside)).isEqualTo("old");
            }
            // As before, for the next state.
            Files.move(folder.resolve("data"), folder.resolve("upgrade/data"));
            Files.move(aside, folder.resolve("data"));
        }
    }

    @Test
    void thereAndBackKeepsBoth() throws Exception {
        fill(OtherPostgres.MAJOR, "old");
        next("new");
        try (EmbeddedFolder held = EmbeddedFolder.hold(folder)) {
            assertThat(held.earlier()).isEmpty();
            Path old = held.exchange(held.next(), NOW);
            held.discard();
            assertThat(folder.resolve("upgrade")).doesNotExist();
            assertThat(word(held, held.current())).isEqualTo("new");
            assertThat(held.earlier()).contains(old);

            Path later = held.exchange(old, NOW);
            assertThat(word(held, held.current())).isEqualTo("old");
            assertThat(word(held, later)).isEqualTo("new");
            assertThat(held.earlier()).as("a later version is no way back").isEmpty();

            assertThatThrownBy(() -> held.exchange(old, NOW)).as("it is in use").isInstanceOf(IOException.class);
            assertThat(word(held, held.current())).isEqualTo("old");
        }
    }

    /** Nothing that an exchange needs is removed when it has failed halfway. */
    @Test
    void aNameThatIsTakenStopsTheExchangeBeforeItBegins() throws Exception {
        fill(OtherPostgres.MAJOR, "old");
        next("new");
        try (EmbeddedFolder held = EmbeddedFolder.hold(folder)) {
            Path taken = Files.createDirectory(folder.resolve("data-17-20261129T040352Z"));
            assertThatThrownBy(() -> held.exchange(held.next(), NOW)).hasMessageContaining(taken.toString());
            assertThat(word(held, held.current())).isEqualTo("old");

            Files.write(folder.resolve("exchange"), List.of(taken.getFileName().toString(), "upgrade/data"));
            held.discard();
            assertThat(held.next()).exists();
        }
        assertThatThrownBy(() -> EmbeddedFolder.hold(folder)).hasMessageContaining("expected only two of");
    }

    /** A killed upgrade may leave a server on the new data. */
    @Test
    void whatAnInterruptedUpgradeHasLeftIsRemovedByTheNext() throws Exception {
        fill(OtherPostgres.MAJOR, "old");
        try (EmbeddedFolder held = EmbeddedFolder.hold(folder);
                EmbeddedDatabase left = held.startNext()) {
            Files.writeString(held.rows().resolve("ledger.copy.gz"), "half");
            assertThat(left.url()).isNotEmpty();

            held.discard();

            assertThat(folder.resolve("upgrade")).doesNotExist();
            assertThat(ServerProcesses.running(held.next())).isEmpty();
        }
    }

    @Test
    void withoutTheOldProgramsTheMessageSaysWhatToDo() throws Exception {
        try (EmbeddedFolder held = EmbeddedFolder.hold(folder)) {
            assertThatThrownBy(() -> held.server(15))
                    .hasMessageContainingAll("no programs of PostgreSQL 15", "start the version of Dozo that has it");
            Path strange = Files.createDirectories(folder.resolve("strange"));
            Files.writeString(strange.resolve("PG_VERSION"), "9.6\n");
            assertThatThrownBy(() -> EmbeddedFolder.major(strange))
                    .hasMessageContaining("does not begin with a version of PostgreSQL");
        }
    }

    @Test
    void nobodyUpgradesAFolderThatIsInUse() throws Exception {
        try (EmbeddedDatabase inUse = EmbeddedDatabase.start(folder)) {
            assertThat(inUse.url()).isNotEmpty();
            assertThatThrownBy(() -> EmbeddedFolder.hold(folder)).hasMessageContaining("is in use by another Dozo");
        }
    }

    private void fill(int major, String word) throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(
                folder, true, major == HERE ? DefaultPostgresBinaryResolver.INSTANCE : OtherPostgres.programs())) {
            write(database, word);
        }
    }

    private void next(String word) throws Exception {
        try (EmbeddedFolder held = EmbeddedFolder.hold(folder)) {
            try (EmbeddedDatabase next = held.startNext()) {
                write(next, word);
            }
            assertThat(EmbeddedFolder.major(held.next())).isEqualTo(HERE);
            try (Stream<Path> all = Files.list(folder)) {
                assertThat(all.map(each -> each.getFileName().toString())).doesNotContain("exchange");
            }
        }
    }

    private static void write(EmbeddedDatabase database, String word) throws SQLException {
        try (Connection connection = connect(database.owner());
                Statement statement = connection.createStatement()) {
            statement.execute("create table word as select '" + word + "' as word");
        }
    }

    private static String word(EmbeddedFolder held, Path data) throws IOException, SQLException {
        try (KeptServer server = KeptServer.start(held, data);
                Connection connection = connect(server.owner());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select word from word")) {
            row.next();
            return row.getString(1);
        }
    }

    private static Connection connect(Access access) throws SQLException {
        return DriverManager.getConnection(access.url(), access.user(), access.password());
    }
}
