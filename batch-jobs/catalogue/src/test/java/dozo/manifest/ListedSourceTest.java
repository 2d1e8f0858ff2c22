package dozo.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dozo.db.Program;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Zoned;
import dozo.ledger.Findings.Finding;
import dozo.manifest.SourceLook.Ingested;
import dozo.registry.Refusal;
import dozo.registry.SourceList;
import dozo.registry.SourceList.Form;
import dozo.source.Crawl;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An experiment with a file list is sealed as a walk would have sealed it, or not at all. */
class ListedSourceTest {

    @TempDir
    Path folder;

    private Path source = Path.of("/");
    private Path list = Path.of("/");

    @BeforeEach
    void writeATree() throws Exception {
        source = Files.createDirectories(folder.resolve("source"));
        list = folder.resolve("list");
        Files.writeString(source.resolve("file"), "text");
        Files.createLink(source.resolve("second name"), source.resolve("file"));
        Files.createSymbolicLink(source.resolve("dangling"), Path.of("no//where\n"));
        Files.write(FilePath.ROOT.resolve(new byte[] {(byte) 0xff, '\n', '%'}).under(source), new byte[7]);
        Files.createDirectories(source.resolve("empty/folder"));
    }

    @Test
    void whatFindWritesIsSealedAsAWalkSealsIt() throws Exception {
        for (int i = 0; i < 1_100; i++) {
            Files.writeString(
                    Files.createDirectories(source.resolve("many/" + i)).resolve("n"), "n" + i);
        }
        find();
        Catalogue listed = new Catalogue(source, new SourceList(list, Form.FIND));
        Catalogue walked = new Catalogue(source);

        Ingested first = listed.night();
        walked.night();

        assertThat(first).isEqualTo(new Ingested(true, List.of()));
        assertThat(facts(listed)).isEqualTo(facts(walked)).hasSize(6 + 1 + 2 * 1_100);
        assertThat(listed.manifests.current(1).orElseThrow())
                .usingRecursiveComparison()
                .isEqualTo(walked.manifests.current(1).orElseThrow());
        assertThat(listed.night().sealed()).isFalse();
        assertThat(listed.night(new Crawl(source)::into).sealed()).isFalse();
    }

    @Test
    void theListIsReadAnewEveryNight() throws Exception {
        find();
        Catalogue catalogue = new Catalogue(source, new SourceList(list, Form.FIND));
        catalogue.night();
        Files.writeString(source.resolve("empty/new"), "new");
        Files.delete(source.resolve("dangling"));
        assertThat(catalogue.night().sealed()).isFalse();

        find();
        catalogue.night();

        assertThat(catalogue.lastDifferences()).containsExactly(1L, 1L, 0L, 1L);
    }

    @Test
    void whatAPolicyWritesIsSealed() throws Exception {
        Files.writeString(
                list,
                "7 1 0  -rw-r--r-- 1 4 2026-11-20 01:02:03.456789 2026-11-20 04:05:06 -- %s/file\n".formatted(source));
        Catalogue catalogue = new Catalogue(source, new SourceList(list, Form.POLICY));

        assertThat(catalogue.night()).isEqualTo(new Ingested(true, List.of()));
        assertThat(catalogue.holds(1)).containsExactly("file:4");
    }

    @Test
    void aListThatIsNotThereIsAFindingWithItsNameAndNothingIsForgotten() throws Exception {
        find();
        Catalogue catalogue = new Catalogue(source, new SourceList(list, Form.FIND));
        catalogue.night();
        List<String> held = catalogue.holds(1);
        Files.delete(list);

        assertNotSealed(catalogue, Problem.SOURCE_MISSING);

        Program.succeed("mkfifo", list.toString());
        assertNotSealed(catalogue, Problem.SOURCE_MISSING);
        assertThat(catalogue.holds(1)).isEqualTo(held);
    }

    @Test
    void aListThatCannotBeReadIsAFindingWithItsName() throws Exception {
        find();
        Path unreadable = Path.of("/proc/self/mem");
        assumeThat(unreadable).isRegularFile();
        Catalogue catalogue = new Catalogue(source, new SourceList(unreadable, Form.FIND));
        list = unreadable;

        assertNotSealed(catalogue, Problem.UNREADABLE);
        assertThat(catalogue.count("select count(*) from entry")).isZero();
    }

    @Test
    void whatAnOldListSaysIsSealedAndItsAgeIsAFinding() throws Exception {
        find();
        Catalogue catalogue = new Catalogue(source, new SourceList(list, Form.FIND));
        Files.setLastModifiedTime(list, FileTime.from(catalogue.now.minus(Duration.ofDays(365))));

        Ingested night = catalogue.night();
        Ingested nextNight = catalogue.night();

        assertThat(night).isEqualTo(new Ingested(true, List.of()));
        assertThat(nextNight.findings()).singleElement().satisfies(finding -> {
            assertThat(finding.reason()).isEqualTo(Problem.LIST_OLD);
            assertThat(finding.message())
                    .contains("list " + list + " was last written at "
                            + Zoned.text(Instant.parse("2025-11-01T00:00:00Z")));
        });
    }

    @Test
    void aListOfNothingSealsNothing() throws Exception {
        Files.writeString(list, "end\0");

        assertNotSealed(new Catalogue(source, new SourceList(list, Form.FIND)), Problem.SOURCE_EMPTY);
    }

    @Test
    void whatAListCutShortDoesNotNameIsNotTakenForGone() throws Exception {
        find();
        Catalogue catalogue = new Catalogue(source, new SourceList(list, Form.FIND));
        catalogue.night();
        Files.writeString(list, "f 4 1.0 1.0 644 1 7 file//\0");
        Files.writeString(list, "f 4 1.0 1.0 644 1 7 ../outside//\0", StandardOpenOption.APPEND);

        Ingested night = catalogue.night();

        assertThat(night.findings())
                .extracting(Finding::reason)
                .containsExactly(Problem.OUTSIDE, Problem.UNPARSED, Problem.UNREADABLE);
        assertThat(catalogue.lastDifferences()).containsExactly(0L, 1L, 0L, 0L);
    }

    @Test
    void aListThatIsNoFileIsRefused() {
        for (Path file :
                List.of(Path.of("list"), folder, folder.resolve("nowhere"), Path.of("/" + "n/".repeat(2_100)))) {
            assertThatThrownBy(() -> new Catalogue(source, new SourceList(file, Form.FIND)))
                    .isInstanceOfSatisfying(
                            Refusal.class,
                            refusal -> assertThat(refusal.field()).isEqualTo("list"));
        }
    }

    private void assertNotSealed(Catalogue catalogue, Problem reason) {
        Ingested night = catalogue.night();

        assertThat(night.sealed()).isFalse();
        assertThat(night.findings().getFirst().reason()).isEqualTo(reason);
        assertThat(night.findings().getFirst().message()).contains("list " + list);
    }

    /** As docs/reference/file-lists.md says. */
    private void find() throws Exception {
        String command = """
                find "$1" -mindepth 1 -printf '%y %s %T@ %C@ %m %n %i %P//%l\\0' > "$2" && printf 'end\\0' >> "$2"
                """;
        Program.succeed("sh", "-c", command, "sh", source.toString(), list.toString());
    }

    private static List<String> facts(Catalogue catalogue) {
        return catalogue.jdbc.sql("""
                        select entry_path(d.path, e.name)::text || ' ' || e.kind::text || ' ' || e.size_bytes || ' '
                            || e.modified_ns || ' ' || e.mode || ' ' || coalesce(l.hard_link, 0) || ' '
                            || coalesce(l.link_target::text, '')
                        from entry e join directory d using (experiment_id, directory_no)
                        left join entry_link l using (experiment_id, entry_no)
                        order by 1
                        """).query(String.class).list();
    }
}
