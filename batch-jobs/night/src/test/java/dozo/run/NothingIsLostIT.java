package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dozo.copy.Trees;
import dozo.db.Campaign;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.loopback.LoopbackSite;
import dozo.remote.ChildProcess;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Promise 3: whatever a source does, whatever others put at the site, and however often runs are killed, every file
 * that was ever seen at the site under a final name or among the versions is still there, the same file with the same
 * bytes.
 */
@Tag(Campaign.TAG)
class NothingIsLostIT {

    private static final int NIGHTS = Campaign.times(8);
    private static final int KILLED_EVERY = 2;
    private static final List<String> NAMES =
            List.of("a", "b", "a/b", "a/b/c", "b/a", "d/e/f", "d/e", "d", "a~2", "g", "h/i");
    private static final String[] SETTINGS = {"dozo.transfer.bundle-entries=2", "dozo.transfer.large=1MB"};

    @TempDir
    Path folder;

    private final Random random = new Random(20261121);

    @Test
    void everyFileEverSeenAtTheSiteIsStillThere() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        Path root = Files.createDirectory(folder.resolve("dr"));
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        Map<Object, Digest> seen = new HashMap<>();
        int kills = 0;
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0)) {
            try (Night night = new Night(database, site.address(), SETTINGS)) {
                night.register("E1", source);
            }
            // Nearly all of a few names change. The tripwire would stop that, but it is not tested here.
            jdbc.sql("update project set tripwire_percent = 100").update();
            for (int n = 1; n <= NIGHTS; n++) {
                change(source, n);
                if (n % 3 == 0) {
                    foreign(root.resolve("p/E1/data"), n);
                }
                if (n % KILLED_EVERY == 0) {
                    kills += kill(database, site, jdbc);
                    look(root, seen);
                }
                try (Night night = new Night(database, site.address(), SETTINGS)) {
                    night.operations().recover();
                    jdbc.sql("select run_id from run where state = 'RUNNING'")
                            .query(Long.class)
                            .list()
                            .forEach(night::await);
                    look(root, seen);
                    assertThat(night.run().state()).isIn(RunState.COMPLETE, RunState.FINDINGS);
                }
                look(root, seen);
            }
        }
        System.out.printf("%d nights, %d killed on the way, %d files watched%n", NIGHTS, kills, seen.size());
        assertThat(kills).isPositive();
        assertThat(seen).hasSizeGreaterThan(3 * NIGHTS);
    }

    /** Gives some names other content, or makes them a folder, a link or nothing. */
    private void change(Path source, int night) throws IOException {
        Files.writeString(source.resolve("always"), "night " + night);
        Files.write(source.resolve("large"), Trees.random(3 << 20, random.nextLong()));
        for (String name : NAMES) {
            Path path = source.resolve(name);
            if (random.nextInt(3) == 0 || !Files.isDirectory(path.getParent(), LinkOption.NOFOLLOW_LINKS)) {
                continue;
            }
            if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                Trees.delete(path);
            }
            switch (random.nextInt(5)) {
                case 0 -> Files.createSymbolicLink(path, Path.of("night " + night % 3));
                case 1, 2 -> Files.createDirectory(path);
                case 3 -> Files.writeString(path, "night " + night % 3);
                default -> {}
            }
        }
    }

    /** Writes at the site as another user. */
    private void foreign(Path data, int night) throws IOException {
        Path path = data.resolve(NAMES.get(random.nextInt(NAMES.size())));
        if (Files.isDirectory(path.getParent(), LinkOption.NOFOLLOW_LINKS)
                && !Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            Files.writeString(path, "foreign " + night);
        }
    }

    /** Kills a night in the middle. Returns 1, or 0 if it had ended before. */
    private int kill(HikariDataSource database, LoopbackSite site, JdbcClient jdbc) throws Exception {
        long before = done(jdbc);
        try (ChildProcess child =
                NightProcess.start(256, folder.resolve("child.log"), site.address(), database, SETTINGS)) {
            Night.until(() -> done(jdbc) > before || !child.isAlive());
            return child.isAlive() ? 1 : 0;
        }
    }

    private static long done(JdbcClient jdbc) {
        return jdbc.sql("select count(*) from transfer_unit where state = 'VERIFIED'")
                .query(Long.class)
                .single();
    }

    /** Checks that everything seen before is there with its bytes; new files count as seen from now on. */
    private static void look(Path root, Map<Object, Digest> seen) throws IOException {
        Map<Object, Digest> there = new HashMap<>();
        for (String top : List.of("p", ".dozo/versions")) {
            if (!Files.isDirectory(root.resolve(top))) {
                continue;
            }
            for (Path path : Trees.all(root.resolve(top))) {
                if (Files.isSymbolicLink(path)) {
                    byte[] link = Files.readSymbolicLink(path).toString().getBytes();
                    there.put(Trees.inode(path), Digest.ofContent(link));
                } else if (Files.isRegularFile(path)) {
                    there.put(Trees.inode(path), Digest.ofContent(Files.readAllBytes(path)));
                }
            }
        }
        assertThat(there).containsAllEntriesOf(seen);
        seen.putAll(there);
    }
}
