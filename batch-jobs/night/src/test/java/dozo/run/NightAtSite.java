package dozo.run;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import dozo.run.Runs.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests of nights. Each has an empty source, an empty site with an sshd of its own, and a fresh database. */
abstract class NightAtSite {

    private final String[] settings;

    @TempDir
    Path folder;

    Path source;

    /** The site's root, and in it the bag of experiment {@code p/E1}. */
    Path root;

    Path bag;

    HikariDataSource database;
    LoopbackSite site;
    Night night;

    /** Nights have these settings, for example {@code dozo.transfer.partitions=1}. */
    NightAtSite(String... settings) {
        this.settings = settings;
    }

    /** Starts the site's sshd. */
    LoopbackSite serve() throws IOException {
        return LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
    }

    @BeforeEach
    final void openNight() throws IOException {
        // On macOS, temporary folders are behind a link.
        folder = folder.toRealPath();
        source = Files.createDirectory(folder.resolve("source"));
        root = Files.createDirectory(folder.resolve("dr"));
        bag = root.resolve("p/E1");
        site = serve();
        database = TestDatabase.fresh();
        night = new Night(database, site.address(), settings);
    }

    /** Writes files into the source, and registers it as experiment {@code p/E1}. */
    final void register(Map<String, String> files) throws IOException {
        Night.write(source, files);
        night.register("E1", source);
    }

    /** Writes files into the source, and runs a complete night. */
    final Run complete(Map<String, String> files) throws IOException {
        Night.write(source, files);
        return night.complete();
    }

    /** Registers experiment {@code p/E1} with these files, which are safe after its first night. */
    final void safe(Map<String, String> files) throws IOException {
        register(files);
        night.complete();
    }

    /** Closes the night, and begins one of the next process. */
    final void restart(String... settings) {
        night.close();
        night = new Night(database, site.address(), settings);
    }

    @AfterEach
    final void closeNight() {
        night.close();
        site.close();
    }
}
