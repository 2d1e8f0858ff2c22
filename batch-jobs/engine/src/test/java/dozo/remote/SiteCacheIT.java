package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files are dropped from the site's memory, or reported as not dropped. The reference is fincore on this machine. If
 * the test's folder is on a file system that drops nothing, the tests check that nothing is promised there.
 */
@Timeout(300)
class SiteCacheIT {

    private static final byte[] SHIFT_JIS = "脳画像ソ\n\\".getBytes(java.nio.charset.Charset.forName("windows-31j"));

    @TempDir
    Path temp;

    private Path root;
    private LoopbackSite site;
    private Lanes lanes;
    private Lane lane;

    @BeforeEach
    void startSite() throws Exception {
        root = Files.createDirectory(temp.resolve("root"));
        site = LoopbackSite.openSsh(temp.resolve("state"), root, 0);
        lanes = Lanes.to(site.address(), 1);
        lane = lanes.next();
    }

    @AfterEach
    void stopSite() {
        lanes.close();
        site.close();
    }

    @Test
    void eachToolThatIsThereDropsThousandsOfFilesOfAnyName() throws Exception {
        List<FilePath> files = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            files.add(written("file with a name that is somewhat longer than others " + i, 100 + i));
        }
        FilePath odd = FilePath.ROOT.resolve(SHIFT_JIS);
        Files.write(odd.under(root), new byte[10_000]);
        files.add(odd);
        files.add(written("-rf *", 5));
        files.add(written("empty", 0));
        files.add(written("large", 20_000_000));

        for (String tool : List.of("perl", "python3", "dd")) {
            for (FilePath file : files) {
                Files.readAllBytes(file.under(root));
            }
            boolean dropped = untested(tool).drop(lane, files, 1 << 20);

            assertThat(dropped).as(tool).isEqualTo(Trees.dropsFromMemory(root));
            assertThat(pagesInMemory(files) == 0).as(tool).isEqualTo(dropped);
        }
    }

    @Test
    void theLookAtASiteFindsTheFastestAndLeavesNothing() throws Exception {
        Optional<SiteCache> found = SiteCheck.of(lane).cache();

        assertThat(found.map(SiteCache::tool))
                .isEqualTo(Trees.dropsFromMemory(root) ? Optional.of("perl") : Optional.empty());
        assertThat(root.resolve(".dozo/incoming")).isEmptyDirectory();
    }

    @Test
    void whatIsNotWrittenYetIsWrittenFirst() throws Exception {
        FilePath dirty = written("dirty", 5_000_000);

        assertThat(untested("dd").drop(lane, List.of(dirty), 1 << 20)).isEqualTo(Trees.dropsFromMemory(root));
    }

    @Test
    void whatSomebodyHoldsInMemoryIsNotSaidToBeDropped() throws Exception {
        FilePath held = written("held", 100_000);
        try (var file = java.nio.channels.FileChannel.open(held.under(root))) {
            var mapped = file.map(java.nio.channels.FileChannel.MapMode.READ_ONLY, 0, file.size());
            assertThat(mapped.load().get(99_999)).isZero();

            assertThat(untested("perl").drop(lane, List.of(written("free", 10), held), 1 << 20))
                    .isFalse();
            assertThat(mapped.get(50_000)).isZero();
        }
    }

    @Test
    void nothingIsDroppedWhereThereIsNoFile() throws Exception {
        Files.createSymbolicLink(root.resolve("link"), written("target", 10).under(root));
        Files.createDirectory(root.resolve("folder"));
        Trees.fifo(root.resolve("fifo"));
        List<FilePath> none =
                List.of(FilePath.of("none"), FilePath.of("link"), FilePath.of("folder"), FilePath.of("fifo"));

        for (String tool : List.of("perl", "python3", "dd")) {
            assertThat(untested(tool).drop(lane, none, 1 << 20)).as(tool).isFalse();
            assertThat(untested(tool).drop(lane, List.of(), 1 << 20)).as(tool).isTrue();
        }
    }

    @Test
    void aFileSystemInMemoryIsNeverCold() throws Exception {
        try (Tmpfs memory = new Tmpfs(root, "size=16m")) {
            FilePath file = written("file", 100_000);

            assertThat(SiteCheck.of(lane).cache()).isEmpty();
            for (String tool : List.of("perl", "python3", "dd")) {
                assertThat(untested(tool).drop(lane, List.of(file), 1 << 20))
                        .as(tool)
                        .isFalse();
            }
        }
    }

    @Test
    void anAccountThatRunsNoCommandsCannotBeAsked() throws Exception {
        try (LoopbackSite none = LoopbackSite.openSsh(temp.resolve("none"), root, 0, "ForceCommand internal-sftp");
                Lanes few = Lanes.to(none.address(), 1)) {
            Lane without = few.next();

            assertThat(SiteCheck.of(without).cache()).isEmpty();
            assertThatThrownBy(() -> untested("dd").drop(without, List.of(FilePath.of("file")), 1 << 20))
                    .isInstanceOf(RemoteException.class);
        }
    }

    private FilePath written(String name, int bytes) throws IOException {
        Files.write(root.resolve(name), new byte[bytes]);
        return FilePath.of(name);
    }

    private long pagesInMemory(List<FilePath> files) throws Exception {
        Path names = temp.resolve("names");
        Files.write(names, AtRoot.names(files));
        Process counting = new ProcessBuilder("xargs", "-0", "fincore", "-nrb", "-o", "PAGES")
                .directory(root.toFile())
                .redirectInput(names.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String said = new String(counting.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertThat(counting.waitFor()).isZero();
        assertThat(said.lines().count()).isEqualTo(files.size());
        return said.lines().mapToLong(Long::parseLong).sum();
    }

    private static SiteCache untested(String tool) {
        return SiteCache.CANDIDATES.stream()
                .filter(candidate -> candidate.tool().equals(tool))
                .findFirst()
                .orElseThrow();
    }
}
