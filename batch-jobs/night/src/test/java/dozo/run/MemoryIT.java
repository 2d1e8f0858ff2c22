package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import dozo.remote.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Promise 7: the heap that suffices for few files suffices for many. */
class MemoryIT {

    private static final int FEW = 2_000;
    private static final int MANY = 20_000;
    private static final int FILES_A_FOLDER = 1_000;

    /**
     * Paths of 2 KB. A night needs 45 to 65 MB whatever it sends, by how many libraries are on the class path, and the paths of many
     * files 40 MB more. Code that holds all of them fails, and code that holds a bundle and a page of rows passes.
     */
    private static final String NAME = "%0240d";

    private static final int DEPTH = 7;
    private static final int HEAP_MEGABYTES = 80;
    private static final String SETTING = "dozo.transfer.bundle-entries=100";

    private final HikariDataSource database = TestDatabase.fresh();

    @TempDir
    Path folder;

    @Test
    void theHeapOfANightOverFewFilesIsEnoughForManyFiles() throws Exception {
        Path root = Files.createDirectory(folder.resolve("dr"));
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
                Night night = new Night(database, site.address())) {
            night.register("E1", makeFiles("few", FEW));
            runIn(HEAP_MEGABYTES, site);
            assertSafe(night, FEW);

            night.register("E2", makeFiles("many", MANY));
            runIn(HEAP_MEGABYTES, site);
            assertSafe(night, FEW + MANY);
        }
    }

    private void runIn(int heapMegabytes, LoopbackSite site) throws Exception {
        Path log = folder.resolve("child.log");
        try (ChildProcess child = NightProcess.start(heapMegabytes, log, site.address(), database, SETTING)) {
            child.assertEndsWell(Duration.ofMinutes(5));
        }
    }

    private static void assertSafe(Night night, int files) {
        night.assertComplete(night.get(Runs.class).latest().orElseThrow());
        assertThat(night.coverage().safe()).isTrue();
        assertThat(night.coverage().filesSafe()).isEqualTo(files);
    }

    private Path makeFiles(String name, int count) throws IOException {
        Path source = Files.createDirectory(folder.resolve(name));
        for (int first = 0; first < count; first += FILES_A_FOLDER) {
            Path deep = source;
            for (int i = 0; i < DEPTH; i++) {
                deep = deep.resolve(NAME.formatted(first));
            }
            Files.createDirectories(deep);
            for (int i = first; i < first + FILES_A_FOLDER; i++) {
                Files.write(deep.resolve(NAME.formatted(i)), new byte[] {(byte) i});
            }
        }
        return source;
    }
}
