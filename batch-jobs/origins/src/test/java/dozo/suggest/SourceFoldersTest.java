package dozo.suggest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.TestDatabase;
import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.SourcePlaces;
import dozo.remote.HungMount;
import dozo.suggest.SourceFolders.Folder;
import dozo.suggest.SourceFolders.Level;
import dozo.suggest.SourceFolders.Registered;
import dozo.suggest.SourceFolders.Root;
import dozo.suggest.SourceFolders.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Users see the folders below the source roots of their projects, and nothing else. */
@Timeout(120)
class SourceFoldersTest {

    private static final Sight LAB = Sight.of(Set.of("P1"));

    @TempDir
    Path temporary;

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, InstantSource.system());
    private final Projects projects = new Projects(jdbc, ledger, InstantSource.system());
    private final Experiments experiments = new Experiments(jdbc, projects, ledger, InstantSource.system());
    private final SourceFolders folders = new SourceFolders(jdbc, new SourcePlaces(jdbc));

    private Path root = Path.of("");

    @BeforeEach
    void makeProjects() throws IOException {
        root = Files.createDirectory(temporary.toRealPath().resolve("p1"));
        projects.create("P1", "", "test");
        projects.create("P2", "", "test");
        projects.setRoots("P1", List.of(root), "test");
    }

    @Test
    void theRootsOfOnesProjectsAreListed() throws IOException {
        Path other = Files.createDirectory(temporary.toRealPath().resolve("p2"));
        projects.setRoots("P2", List.of(root, other), "test");
        experiments.register("P1", "E1", "", Files.createDirectory(root.resolve("visit")), "test");

        assertThat(folders.roots(LAB)).extracting(Root::name).containsExactly(root.toString());
        Root mine = folders.roots(Sight.EVERYTHING).getFirst();
        assertThat(mine.projects()).containsExactly("P1", "P2");
        assertThat(mine.folder().registered()).isEqualTo(new Registered(null, false, 1, 1, 0));
        Files.delete(other);
        assertThat(folders.roots(Sight.EVERYTHING))
                .extracting(each -> each.folder().state())
                .containsExactly(State.READABLE, State.GONE);
    }

    @Test
    void aFolderTellsWhatIsRegisteredThereAndBelow() throws IOException {
        Path visit = Files.createDirectories(root.resolve("subject/visit"));
        Files.createDirectory(root.resolve("free"));
        experiments.register("P1", "E1", "", visit, "test");
        experiments.register("P2", "E2", "", Files.createDirectory(root.resolve("theirs")), "test");
        // Its name begins like that of another folder.
        experiments.register("P1", "E3", "", Files.createDirectory(root.resolve("free2")), "test");

        Level level = open(root);

        assertThat(level.projects()).containsExactly("P1");
        assertThat(level.folders()).extracting(Folder::name).containsExactly("free", "free2", "subject");
        assertThat(level.hidden()).isEqualTo(1);
        assertThatThrownBy(() -> open(root.resolve("theirs"))).hasMessage(Experiments.FOREIGN_SOURCE);
        assertThat(level.folders()).extracting(Folder::free).containsExactly(true, false, true);
        assertThat(level.folders())
                .extracting(Folder::registered)
                .containsExactly(
                        Registered.NOTHING,
                        new Registered("P1/E3", false, 0, 1, 0),
                        new Registered(null, false, 1, 1, 0));
        assertThat(level.inside().itself()).isFalse();
        assertThat(open(Files.createDirectory(visit.resolve("series"))).inside().experiment())
                .isEqualTo("P1/E1");
        assertThat(open(visit).way()).hasSize(3).startsWith(path(root)).endsWith(path(visit));
    }

    @Test
    void whatIsNotSafeAtEverySiteIsTold() throws IOException {
        Path visit = Files.createDirectory(root.resolve("visit"));
        int id = experiments.register("P1", "E1", "", visit, "test").id();
        jdbc.sql("""
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                select n, 'h', 22, 'u', '/r', 'k', '/k', now() from unnest(array['a', 'b']) n
                """).update();
        jdbc.sql("""
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                        entries_safe, counted_at)
                select :id, site_id, 1, 2, 100, 2, case name when 'a' then 2 else 1 end, case name when 'a' then 100 else 30 end,
                       case name when 'a' then 2 else 1 end, now()
                from site
                """).param("id", id).update();

        assertThat(open(root).folders().getFirst().registered()).isEqualTo(new Registered("P1/E1", false, 0, 1, 70));
        jdbc.sql("update site set removed_at = now() where name = 'b'").update();
        assertThat(open(root).folders().getFirst().registered()).isEqualTo(new Registered("P1/E1", false, 0, 0, 0));
    }

    @Test
    void linksAreShownAndNotFollowedAndAnyNameIsAName() throws IOException {
        Path outside = Files.createDirectory(temporary.toRealPath().resolve("outside"));
        Files.createDirectory(outside.resolve("secret"));
        Path link = Files.createSymbolicLink(root.resolve("a-link"), outside);
        FilePath raw = path(root).resolve(new byte[] {(byte) 0x94, (byte) 0x5c, (byte) 0xff});
        Files.createDirectory(raw.under(Path.of("/")));
        Files.writeString(root.resolve("file"), "x");

        Level level = open(root);

        assertThat(level.folders()).extracting(Folder::state).containsExactly(State.LINK, State.READABLE);
        assertThat(level.folders().getLast().path()).isEqualTo(raw);
        assertThat(level.folders().getLast().isText()).isFalse();
        assertThat(level.others()).isEqualTo(1);
        assertThat(folders.open(LAB, raw, FilePath.ROOT).folders()).isEmpty();
        assertThatThrownBy(() -> open(link)).hasMessageContaining("is not below a source root");
    }

    @Test
    void nothingOutsideTheRootsIsShownWhetherItExistsOrNot() throws IOException {
        Path outside = Files.createDirectory(temporary.toRealPath().resolve("p1x"));
        for (Sight sight : List.of(LAB, Sight.EVERYTHING)) {
            for (Path path : List.of(outside, temporary.toRealPath(), Path.of("/"), Path.of("/etc"))) {
                assertThatThrownBy(() -> folders.open(sight, path(path), FilePath.ROOT))
                        .as("%s", path)
                        .isInstanceOf(Refusal.class)
                        .hasMessageContaining("is not below a source root");
            }
        }
        assertThatThrownBy(() -> open(root.resolve("never"))).hasMessageContaining("there is no folder");
        assertThatThrownBy(() -> folders.open(Sight.of(Set.of()), path(root), FilePath.ROOT))
                .hasMessageContaining("is not below a source root");
    }

    @Test
    void manyFoldersArePaged() throws IOException {
        for (int i = 0; i <= SourceFolders.SHOWN; i++) {
            Files.createDirectory(root.resolve("%03d".formatted(i)));
        }

        Level first = open(root);
        assertThat(first.folders()).hasSize(SourceFolders.SHOWN);
        Level second = folders.open(LAB, path(root), Objects.requireNonNull(first.next()));
        assertThat(second.folders()).extracting(Folder::name).containsExactly("100");
        assertThat(second.next()).isNull();
    }

    @Test
    void aFolderThatHangsIsARowAndTheOthersAreListed() throws Exception {
        Path hung = Files.createDirectory(root.resolve("hung"));
        Files.createDirectory(root.resolve("visit"));
        try (HungMount _ = new HungMount(hung)) {
            assertThat(open(root).folders()).extracting(Folder::state).containsExactly(State.SILENT, State.READABLE);
            assertThatThrownBy(() -> open(hung)).hasMessageContaining("did not respond within");
        }
    }

    private Level open(Path folder) {
        return folders.open(LAB, path(folder), FilePath.ROOT);
    }

    private static FilePath path(Path folder) {
        return FilePath.between(Path.of("/"), folder);
    }
}
