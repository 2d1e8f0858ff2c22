package dozo.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.registry.RegisteredRows;
import dozo.send.SiteCopy;
import dozo.verify.Receipts.Proof;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The place of a copy follows from what was proven after it, and under which manifest. */
class CopiesTest {

    private static final String VERSIONS = ".dozo/versions/p/E1/";

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private final Receipts receipts = new Receipts(jdbc, () -> Instant.parse("2026-10-01T12:00:00Z"));
    private final Copies copies = new Copies(jdbc);
    private final BagFiles bagFiles = new BagFiles(jdbc);
    private int lastEntry;

    @BeforeEach
    void register() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("""
                insert into directory values (1, 1, ''), (1, 2, 'a'), (1, 3, 'a/b'), (1, 4, convert_to('脳', 'EUC_JP'));
                insert into manifest
                select 1, n, '2026-10-01T00:00Z'::timestamptz + n * interval '1 day', 0, 0, 0, 0, 0, 0, 0
                from generate_series(1, 9) n;
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                select 1, 1, 'BUNDLE', '{1}', 1, 'VERIFIED', 1, 0 from generate_series(1, 9);
                """).update();
    }

    @Test
    void whatWasProvenStandsUnderItsName() {
        int file = proven(1, 3, "c", 'f', "x");
        int japanese = proven(1, 4, "c", 'l', "target");

        assertThat(copies(file, japanese))
                .containsExactly(
                        new SiteCopy(
                                file,
                                EntryKind.FILE,
                                FilePath.of("a/b/c"),
                                FilePath.of("p/E1/data/a/b/c"),
                                digest("x"),
                                7,
                                true),
                        new SiteCopy(
                                japanese,
                                EntryKind.LINK,
                                FilePath.of(new byte[] {(byte) 0xC7, (byte) 0xBE, '/', 'c'}),
                                FilePath.of("p/E1/data")
                                        .resolve(FilePath.of(new byte[] {(byte) 0xC7, (byte) 0xBE, '/', 'c'})),
                                digest("target"),
                                7,
                                true));
    }

    @Test
    void whatHasNoReceiptHasNoCopy() {
        int proven = proven(1, 1, "f", 'f', "x");
        int unproven = entry(1, 1, "g", 'f');
        int replacesNothing = entry(2, 1, "f", 'f');

        assertThat(copies(proven, unproven, replacesNothing)).singleElement().satisfies(copy -> {
            assertThat(copy.entryNumber()).isEqualTo(proven);
            assertThat(copy.standing()).isTrue();
        });
        assertThat(copies.of(1, 1, new int[0])).isEmpty();
    }

    @Test
    void anotherContentMovesItToTheVersionsOfTheManifestThatWasSentThen() {
        int first = proven(1, 1, "f", 'f', "x");
        int second = proven(4, 1, "f", 'f', "y");
        int third = proven(9, 1, "f", 'f', "x");

        assertThat(places(first, second, third))
                .containsExactly(VERSIONS + "4/data/f", VERSIONS + "9/data/f", "p/E1/data/f");
    }

    @Test
    void theSameContentUnderTheSameNameIsTheSameCopy() {
        int first = proven(1, 1, "f", 'f', "x");
        int touched = proven(2, 1, "f", 'f', "x");
        assertThat(places(first, touched)).containsExactly("p/E1/data/f", "p/E1/data/f");

        proven(3, 1, "f", 'f', "y");
        assertThat(places(first, touched)).containsExactly(VERSIONS + "3/data/f", VERSIONS + "3/data/f");
    }

    @Test
    void aLinkWhoseTextIsTheFilesContentIsAnotherThing() {
        int file = proven(1, 1, "f", 'f', "x");
        int link = proven(2, 1, "f", 'l', "x");

        assertThat(places(file, link)).containsExactly(VERSIONS + "2/data/f", "p/E1/data/f");
    }

    @Test
    void whatStoodBelowAFolderIsMovedWithIt() {
        int folder = proven(1, 1, "a", 'd', "");
        int deep = proven(1, 3, "c", 'f', "x");
        int file = proven(3, 1, "a", 'f', "now a file");
        int again = proven(5, 3, "c", 'f', "x");

        assertThat(places(folder, deep, file, again))
                .as("the folder went with all in it, and the file when there was a folder again")
                .containsExactly(VERSIONS + "3/data/a", VERSIONS + "3/data/a/b/c", "p/E1/data/a", "p/E1/data/a/b/c");

        int folderAgain = proven(5, 1, "a", 'd', "");
        assertThat(places(file, folderAgain)).containsExactly(VERSIONS + "5/data/a", "p/E1/data/a");
    }

    @Test
    void aCopyThatWasMovedAsideIsNotMovedAgain() {
        int deep = proven(1, 3, "c", 'f', "x");
        proven(2, 3, "c", 'f', "y");
        proven(3, 2, "b", 'l', "elsewhere");
        proven(4, 1, "a", 'f', "z");

        assertThat(places(deep)).containsExactly(VERSIONS + "2/data/a/b/c");
    }

    @Test
    void anEntryProvenAgainHasTheDigestOfTheLastTime() {
        int entry = proven(1, 1, "f", 'f', "x");
        prove(2, entry, "not seen to have changed");

        assertThat(copies(entry)).singleElement().satisfies(copy -> {
            assertThat(copy.digest()).isEqualTo(digest("not seen to have changed"));
            assertThat(copy.standing()).isTrue();
        });
    }

    @Test
    void aReceiptThatDoesNotSayItsManifestWasOfTheOneCurrentThen() {
        int first = proven(1, 1, "f", 'f', "x");
        int second = entry(2, 1, "f", 'f');
        jdbc.sql("""
                        insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                        values (1, 1, 1, 1, array[:entry], sha256('y'), 'exec', 'test', '2026-10-07T12:00Z')
                        """).param("entry", second).update();

        assertThat(places(first, second)).containsExactly(VERSIONS + "6/data/f", "p/E1/data/f");
    }

    @Test
    void whatStandsIsWhatTheBagListsAfterAnyHistory() {
        Random random = new Random(5);
        Map<FilePath, Digest> last = Map.of();
        for (int manifest = 1; manifest <= 9; manifest++) {
            for (String[] name :
                    new String[][] {{"1", "a"}, {"1", "f"}, {"2", "b"}, {"2", "f"}, {"3", "c"}, {"3", "d"}}) {
                if (random.nextInt(3) == 0) {
                    proven(
                            manifest,
                            Integer.parseInt(name[0]),
                            name[1],
                            "ffdl".charAt(random.nextInt(4)),
                            "" + random.nextInt(2));
                }
            }
            Map<FilePath, Digest> standing = new TreeMap<>();
            for (SiteCopy copy : copies(IntStream.rangeClosed(1, lastEntry).toArray())) {
                if (copy.standing() && copy.kind() == EntryKind.FILE) {
                    standing.put(copy.name(), copy.digest());
                }
            }
            Map<FilePath, Digest> listed = new TreeMap<>();
            Map<FilePath, Digest> before = new TreeMap<>();
            bagFiles.each(1, 1, manifest - 1, (_, file, stands, stood) -> {
                if (stands) {
                    listed.put(file.path(), file.digest());
                }
                if (stood) {
                    before.put(file.path(), file.digest());
                }
            });
            assertThat(listed).as("after manifest " + manifest).isEqualTo(standing);
            assertThat(before).as("before manifest " + manifest).isEqualTo(last);
            last = listed;
        }
    }

    /** A quarter of a million entries, a tenth of them replaced: a thousand copies are located without reading all. */
    @Test
    @Timeout(300)
    void locatingAThousandCopiesDoesNotReadTheWholeExperiment() {
        jdbc.sql("""
                insert into directory (experiment_id, directory_no, path, first_entry_no, last_entry_no)
                select 1, 10 + n, convert_to('s' || n % 50 || '/d' || n, 'UTF8'), n * 50 - 49, n * 50 from generate_series(1, 5000) n;
                insert into directory (experiment_id, directory_no, path, first_entry_no, last_entry_no)
                select 1, 6000 + n, convert_to('s' || n, 'UTF8'), 310000, 315000 from generate_series(0, 49) n;
                update directory set first_entry_no = 300000, last_entry_no = 300049 where directory_no = 1;
                insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name)
                select 1, n, 11 + (n - 1) / 50, 1, 1, 0, 420, 'f', convert_to('f' || n % 50, 'UTF8')
                from generate_series(1, 250000) n
                union all
                select 1, 250000 + n, 11 + n % 5000, 2, 1, 0, 420, 'f', convert_to('f' || n / 5000, 'UTF8')
                from generate_series(0, 24999) n where n > 0
                union all
                select 1, 300000 + n, 1, 1, 0, 0, 493, 'd', convert_to('s' || n, 'UTF8') from generate_series(0, 49) n
                union all
                select 1, 310000 + n, 6000 + n % 50, 1, 0, 0, 493, 'd', convert_to('d' || n, 'UTF8') from generate_series(1, 5000) n;
                insert into receipt (experiment_id, site_id, unit_id, run_id, manifest_no, entry_nos, digests, method, worker,
                                     verified_at)
                select 1, 1, 1, 1, case when min(n) > 250000 then 2 else 1 end, array_agg(n),
                       string_agg(sha256(convert_to(n::text, 'UTF8')), ''::bytea), 'exec', 'test', now()
                from generate_series(1, 274999) n group by n / 1000;
                analyze entry, directory, receipt
                """).update();
        int[] numbers = IntStream.rangeClosed(100_001, 101_000).toArray();

        List<SiteCopy> found = copies(numbers);

        assertThat(found).hasSize(1_000);
        assertThat(found.stream().filter(copy -> !copy.standing())).hasSize(100);
    }

    private int entry(int manifest, int directory, String name, char kind) {
        int number = ++lastEntry;
        RegisteredRows.endEntry(jdbc, manifest, directory, name.getBytes(StandardCharsets.UTF_8));
        jdbc.sql("""
                        insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind,
                                           name)
                        values (1, :number, :directory, :manifest, 7, 0, 420, :kind::"char", convert_to(:name, 'UTF8'))
                        """)
                .param("manifest", manifest)
                .param("number", number)
                .param("directory", directory)
                .param("kind", String.valueOf(kind))
                .param("name", name)
                .update();
        return number;
    }

    private int proven(int manifest, int directory, String name, char kind, String content) {
        int entry = entry(manifest, directory, name, kind);
        prove(manifest, entry, content);
        return entry;
    }

    private void prove(int manifest, int entry, String content) {
        receipts.add(
                1,
                1,
                manifest,
                1,
                manifest,
                List.of(new Proof(entry, digest(content))),
                "archive",
                "exec sha256sum",
                "test");
    }

    private List<SiteCopy> copies(int... entries) {
        return copies.of(1, 1, entries);
    }

    private List<String> places(int... entries) {
        return copies(entries).stream().map(copy -> copy.path().toString()).toList();
    }

    private static Digest digest(String content) {
        return Digest.ofContent(content.getBytes(StandardCharsets.UTF_8));
    }
}
