package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dozo.copy.Trees;
import dozo.db.Campaign;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Promise 4: killed with {@code kill -9} repeatedly and started again, a run continues where it was. What was committed
 * is not sent again; at most the units in flight are.
 */
class KillIT {

    private static final int PARTITIONS = 4;
    private static final int CHUNK = 2;
    private static final int BUNDLE_ENTRIES = 5;
    private static final int UNITS_A_KILL = 50;
    private static final String DONE = "transfer_unit where state = 'VERIFIED'";
    private static final String[] SETTINGS = {
        "dozo.transfer.partitions=" + PARTITIONS,
        "dozo.transfer.chunk=" + CHUNK,
        "dozo.transfer.bundle-entries=" + BUNDLE_ENTRIES,
        "dozo.transfer.large=16MB"
    };

    /**
     * A partition takes its units in order and commits a chunk of them at once. So unrecorded names are in the first
     * chunk that each partition has not committed. Kills do not add up: a restart begins with the same chunks.
     */
    private static final int UNRECORDED_MAX = PARTITIONS * CHUNK * BUNDLE_ENTRIES;

    @TempDir
    Path folder;

    @Test
    void aRunThatIsKilledSendsNothingTwiceButWhatWasInFlight() throws Exception {
        assertSendsNothingTwice(1, 800, 17_000_000);
    }

    @Test
    @Tag(Campaign.TAG)
    void aRunThatIsKilledAgainAndAgainSendsNothingTwiceButWhatWasInFlight() throws Exception {
        assertSendsNothingTwice(Campaign.times(4), Campaign.times(2_500), 60_000_000);
    }

    private void assertSendsNothingTwice(int kills, int files, int largeBytes) throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        Path root = Files.createDirectory(folder.resolve("dr"));
        long bytes = makeFiles(source, files, largeBytes);
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0)) {
            try (Night night = new Night(database, site.address(), SETTINGS)) {
                night.register("E1", source);
            }
            Map<Path, Object> standing = new HashMap<>();
            List<Long> unrecorded = new ArrayList<>();
            for (int kill = 1; kill <= kills; kill++) {
                long target = count(jdbc, DONE) + UNITS_A_KILL;
                NightProcess.start(256, folder.resolve("child.log"), site.address(), database, SETTINGS)
                        .killWhen(() -> count(jdbc, DONE) >= target);
                unrecorded.add(filesWithoutReceipt(jdbc, root));
                standing.putAll(provenFiles(jdbc, root));
            }
            long committed = count(jdbc, DONE);
            long units = count(jdbc, "transfer_unit");
            assertThat(committed).isBetween((long) UNITS_A_KILL * kills, units - 1);
            System.out.printf(
                    "killed %d times: %d of %d units committed, %s files named and not yet recorded, %d proven files watched%n",
                    kills, committed, units, unrecorded, standing.size());
            assertThat(unrecorded)
                    .as("named but not recorded, at each kill: at most what was in flight")
                    .allSatisfy(each -> assertThat(each).isLessThanOrEqualTo(UNRECORDED_MAX));

            try (Night night = new Night(database, site.address(), SETTINGS)) {
                night.goOn();
                assertThat(night.coverage().safe()).isTrue();
                assertThat(night.coverage().bytesSafe()).isEqualTo(bytes);
            }
            assertThat(count(
                            jdbc,
                            "receipt r1 join receipt r2 on r1.unit_id = r2.unit_id and r1.receipt_id < r2.receipt_id"))
                    .as("units proven twice")
                    .isZero();
            assertThat(standing)
                    .isNotEmpty()
                    .allSatisfy((path, inode) -> assertThat(Trees.inode(path)).isEqualTo(inode));
            NightlyBackupIT.assertSame(source, root.resolve("p/E1/data"));
            NightlyBackupIT.assertChecks(root.resolve("p/E1"));
            assertThat(root.resolve(".dozo/incoming/p/E1")).doesNotExist();
            assertThat(root.resolve(".dozo/versions"))
                    .as("nothing was taken for a foreign file")
                    .doesNotExist();
        }
    }

    private static long makeFiles(Path source, int files, int largeBytes) throws IOException {
        Random random = new Random(11);
        long bytes = 0;
        for (int i = 0; i < files; i++) {
            Path file = source.resolve("series%02d".formatted(i % 50)).resolve("image" + i);
            Files.createDirectories(file.getParent());
            byte[] content = new byte[random.nextInt(40_000)];
            random.nextBytes(content);
            Files.write(file, content);
            bytes += content.length;
        }
        byte[] large = new byte[largeBytes];
        random.nextBytes(large);
        Files.write(source.resolve("large.raw"), large);
        return bytes + large.length;
    }

    private static long count(JdbcClient jdbc, String from) {
        return jdbc.sql("select count(*) from " + from).query(Long.class).single();
    }

    /** Returns the files that have a receipt, with their inodes: a file that is sent again would have another. */
    private static Map<Path, Object> provenFiles(JdbcClient jdbc, Path root) {
        List<Path> paths = jdbc.sql("""
                        select convert_from(entry_path(d.path, e.name), 'UTF8') as path
                        from receipt r, unnest(r.entry_nos) as n (entry_no)
                        join entry e on e.experiment_id = 1 and e.entry_no = n.entry_no and e.kind = 'f'
                        join directory d using (experiment_id, directory_no)
                        """)
                .query((row, n) -> root.resolve("p/E1/data").resolve(row.getString("path")))
                .list();
        Map<Path, Object> inodes = new HashMap<>();
        paths.forEach(path -> inodes.put(path, Trees.inode(path)));
        return inodes;
    }

    private static long filesWithoutReceipt(JdbcClient jdbc, Path root) throws IOException {
        long standing = Trees.all(root.resolve("p/E1/data")).stream()
                .filter(Files::isRegularFile)
                .count();
        return standing - provenFiles(jdbc, root).size();
    }
}
