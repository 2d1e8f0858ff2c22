package dozo.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.Program;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.registry.RegisteredRows;
import dozo.verify.BagFiles.ProvenFile;
import dozo.verify.Receipts.Proof;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The targets of links follow from what was proven, and are those that the kernel finds. */
class LinkedFilesTest {

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(database));
    private final Receipts receipts = new Receipts(jdbc, () -> Instant.parse("2026-10-01T12:00:00Z"));
    private final LinkedFiles linkedFiles = new LinkedFiles(jdbc);
    private int lastEntry;

    @TempDir
    Path folder;

    @BeforeEach
    void register() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("""
                insert into directory values (1, 1, ''), (1, 2, 'sub'), (1, 3, 'sub/deep');
                insert into manifest
                select 1, n, '2026-10-01T00:00Z'::timestamptz + n * interval '1 day', 0, 0, 0, 0, 0, 0, 0
                from generate_series(1, 9) n;
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                values (1, 1, 'BUNDLE', '{1}', 1, 'VERIFIED', 1, 0);
                """).update();
        folder(1, "sub");
        folder(2, "deep");
        file(1, "top", "1");
        file(3, "low", "2");
    }

    @Test
    void aLinkHasTheDigestAndSizeOfTheFileItLeadsTo() {
        link(1, "beside", "top");
        link(1, "down", "sub/deep/low");
        link(3, "up", "../../top");
        link(2, "around", ".//deep/./../deep//low");

        assertThat(links())
                .containsExactly(
                        new ProvenFile(FilePath.of("beside"), digest("1"), 7),
                        new ProvenFile(FilePath.of("down"), digest("2"), 7),
                        new ProvenFile(FilePath.of("sub/around"), digest("2"), 7),
                        new ProvenFile(FilePath.of("sub/deep/up"), digest("1"), 7));
    }

    @Test
    void aWayLeadsThroughOtherLinks() {
        link(1, "folder", "sub/deep");
        link(1, "first", "second");
        link(1, "second", "folder/low");
        link(2, "third", "../folder/../../first");

        assertThat(names())
                .as("the folder above the link's target, not above the link")
                .containsExactly("first", "second", "sub/third");
    }

    @Test
    void whatLeadsToNoFileOfTheBagIsNotListed() {
        link(1, "dangling", "nowhere");
        link(1, "absolute", "/top");
        link(1, "through-absolute", "absolute");
        link(1, "out", "../elsewhere");
        link(1, "out-and-back", "../data/top");
        link(1, "self", "self");
        link(1, "circle-1", "circle-2");
        link(1, "circle-2", "circle-1");
        link(1, "growing", "growing/x");
        link(1, "folder", "sub");
        link(1, "root", ".");
        link(1, "slash", "top/");
        link(1, "dot", "top/.");
        link(1, "through-file", "top/../top");
        link(1, "through-nothing", "nowhere/../top");

        assertThat(names()).isEmpty();
    }

    @Test
    void fortyLinksAreFollowedAndNotOneMore() {
        for (int i = 1; i <= LinkedFiles.LINKS_MAX + 1; i++) {
            link(1, "c" + i, i == 1 ? "top" : "c" + (i - 1));
        }

        assertThat(names()).hasSize(LinkedFiles.LINKS_MAX).doesNotContain("c41");
    }

    @Test
    @Timeout(300)
    void aWayHasALimit() {
        link(1, "long", "./".repeat(LinkedFiles.NAMES_MAX - 1) + "top");
        link(1, "too-long", "./".repeat(LinkedFiles.NAMES_MAX) + "top");

        assertThat(names()).containsExactly("long");
    }

    @Test
    void whatIsNotProvenLeadsNowhere() {
        link(1, "to-unproven", "unproven");
        entry(1, 1, "unproven", 'f', null);
        entry(1, 1, "unproven-link", 'l', "top");

        assertThat(names()).isEmpty();
    }

    @Test
    void theFileThatStandsCountsWhicheverManifestItIsOf() {
        link(1, "link", "top");
        entry(2, 1, "top", 'f', null);
        assertThat(links()).extracting(ProvenFile::digest).containsExactly(digest("1"));

        prove(lastEntry, digest("3"));
        assertThat(links()).extracting(ProvenFile::digest).containsExactly(digest("3"));

        prove(entry(3, 1, "link", 'f', null), digest("now a file"));
        assertThat(names()).isEmpty();
    }

    @Test
    void namesAreBytes() {
        byte[] shiftJis = {(byte) 0x83, 0x5C};
        prove(insert(1, 1, shiftJis, 'f', null), digest("5"));
        prove(insert(1, 1, new byte[] {'l', '\n'}, 'l', shiftJis), digest("text"));

        assertThat(names()).containsExactly("l\\x0A");
    }

    @Test
    void whatHasNoLinksIsNotLookedThrough() {
        assertThat(transaction.<Boolean>execute(_ -> linkedFiles.find(1, 1))).isFalse();
    }

    /** Compares with the kernel's resolution of the same links. */
    @Test
    void randomLinksLeadWhereTheKernelFindsThem() throws Exception {
        long seed = 20261121;
        Random random = new Random(seed);
        // Deep enough that no link leads out of it.
        Path root = Files.createDirectories(folder.resolve("o/o/o/o/o/o/o/o/o/o/o/o/root"));
        List<String> folders = List.of("", "sub", "sub/deep");
        Files.createDirectories(root.resolve("sub/deep"));
        Files.writeString(root.resolve("top"), "1");
        Files.writeString(root.resolve("sub/deep/low"), "2");
        List<String> way = List.of("..", "..", ".", "", "sub", "deep", "low", "l0", "l1", "l2", "l3", "l4");
        List<String> end = List.of("top", "top", "low", "low", "sub", "l0", "l1", "l2", "l3", "l4", "");
        for (int in = 0; in < folders.size(); in++) {
            for (int i = 0; i < 60; i++) {
                String target = Stream.concat(
                                Stream.generate(() -> way.get(random.nextInt(way.size())))
                                        .limit(random.nextInt(4)),
                                Stream.of(end.get(random.nextInt(end.size()))))
                        .collect(Collectors.joining("/"));
                if (!target.isEmpty() && !target.startsWith("/")) {
                    symlink(target, root.resolve(folders.get(in)).resolve("l" + i));
                    link(in + 1, "l" + i, target);
                }
            }
        }

        Map<String, Digest> expected = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path one : (Iterable<Path>) all::iterator) {
                if (Files.isSymbolicLink(one) && Files.isRegularFile(one)) {
                    expected.put(root.relativize(one).toString(), digest(Files.readString(one)));
                }
            }
        }
        assertThat(expected).as("seed %d: the test says something", seed).hasSizeGreaterThan(5);
        Map<String, Digest> found = new TreeMap<>();
        links().forEach(link -> found.put(link.path().toString(), link.digest()));
        assertThat(found).as("seed %d", seed).isEqualTo(expected);
    }

    /** A git-annex folder: each file is a link through five names to an object. */
    @Test
    @Timeout(300)
    void manyLinksTakeTheirNumber() {
        jdbc.sql("""
                insert into directory
                select 1, n, convert_to('objects/' || n, 'UTF8') from generate_series(10, 109) n;
                insert into entry
                select 1, n, 1, 1, 0, 0, 493, 'd', convert_to(case n when 100 then 'objects' else n::text end, 'UTF8')
                from generate_series(100, 100) n;
                insert into directory values (1, 4, 'objects');
                insert into entry
                select 1, 1000 + n, 4, 1, 0, 0, 493, 'd', convert_to(n::text, 'UTF8') from generate_series(10, 109) n;
                insert into entry
                select 1, 10000 + n, 10 + n % 100, 1, 3, 0, 420, 'f', convert_to('key' || n, 'UTF8')
                from generate_series(0, 19999) n;
                insert into entry
                select 1, 100000 + n, 3, 1, 0, 0, 511, 'l', convert_to('l' || n, 'UTF8') from generate_series(0, 19999) n;
                insert into entry_link
                select 1, 100000 + n, null, convert_to('../../objects/' || 10 + n % 100 || '/key' || n, 'UTF8')
                from generate_series(0, 19999) n;
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                select 1, 1, 1, 1, array_agg(entry_no), decode(repeat('00', 32 * count(*)::integer), 'hex'), 'exec', 'test', now()
                from entry where entry_no >= 100 group by entry_no / 1000
                """).update();

        assertThat(links()).hasSize(20_000);
    }

    /** NB: Java would omit a slash at the end, and the second of two in a row. */
    private static void symlink(String target, Path link) throws Exception {
        Program.succeed("ln", "-s", "--", target, link.toString());
    }

    private List<ProvenFile> links() {
        return transaction.execute(_ -> {
            if (!linkedFiles.find(1, 1)) {
                return List.<ProvenFile>of();
            }
            try (var found = linkedFiles.found()) {
                return found.toList();
            }
        });
    }

    private List<String> names() {
        return links().stream().map(link -> link.path().toString()).toList();
    }

    private void folder(int directory, String name) {
        prove(entry(1, directory, name, 'd', null), Digest.OF_NOTHING);
    }

    private void file(int directory, String name, String content) {
        prove(entry(1, directory, name, 'f', null), digest(content));
    }

    private void link(int directory, String name, String target) {
        prove(entry(1, directory, name, 'l', target), digest(target));
    }

    private int entry(int manifest, int directory, String name, char kind, @Nullable String target) {
        return insert(
                manifest,
                directory,
                name.getBytes(StandardCharsets.UTF_8),
                kind,
                target == null ? null : target.getBytes(StandardCharsets.UTF_8));
    }

    private int insert(int manifest, int directory, byte[] name, char kind, byte @Nullable [] target) {
        lastEntry++;
        RegisteredRows.endEntry(jdbc, manifest, directory, name);
        jdbc.sql("""
                        insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode,
                                           kind, name)
                        values (1, :number, :directory, :manifest, :size, 0, 420, :kind::"char", :name)
                        """)
                .param("number", lastEntry)
                .param("directory", directory)
                .param("manifest", manifest)
                .param("size", kind == 'f' ? 7 : 0)
                .param("kind", String.valueOf(kind))
                .param("name", name)
                .update();
        if (target != null) {
            jdbc.sql("insert into entry_link values (1, :number, null, :target)")
                    .param("number", lastEntry)
                    .param("target", target)
                    .update();
        }
        return lastEntry;
    }

    private void prove(int entry, Digest digest) {
        receipts.add(1, 1, 1, 1, 1, List.of(new Proof(entry, digest)), "archive", "exec sha256sum", "test");
    }

    private static Digest digest(String content) {
        return Digest.ofContent(content.getBytes(StandardCharsets.UTF_8));
    }
}
