package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.Campaign;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A night of changes is killed with {@code kill -9} repeatedly while experiments are read, sent and settled
 * concurrently, and continued: the final result is as if nobody had killed it.
 */
@Tag(Campaign.TAG)
class OverlapKillIT {

    private static final int KILLS = Campaign.times(4);
    private static final int SENT_A_KILL = 20;
    private static final int EXPERIMENTS = SENT_A_KILL * (KILLS + 4);

    /** One of these changes: too few for a sweep if many experiments lose it. */
    private static final int FILES = 8;

    /** More than can be sent between two kills: up to 16 in each partition, and those before. */
    private static final int TINY_A_KILL = 50;

    private static final String[] FEW_AT_ONCE = {
        "dozo.ingest.looks=1", "dozo.transfer.partitions=2", "dozo.transfer.chunk=1"
    };

    private static final String SENT = "select count(*) from transfer_unit where state = 'VERIFIED'";
    private static final String CLAIMED =
            "select count(*) from transfer_unit where state = 'PLANNED' and worker_id is not null";
    private static final String SETTLING = "select count(*) from protection where tags_unknown";
    private static final String[] SETTINGS = {"dozo.ingest.looks=1", "dozo.transfer.partitions=2"};

    @TempDir
    Path folder;

    private final HikariDataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);

    @Test
    void aNightThatIsKilledInItsOverlapsEndsAsIfItHadNotBeen() throws Exception {
        Path root = Files.createDirectory(folder.resolve("dr"));
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0)) {
            try (Night night = new Night(database, site.address(), SETTINGS)) {
                for (int i = 0; i < EXPERIMENTS; i++) {
                    Files.createDirectory(source(i));
                    for (int file = 0; file < FILES; file++) {
                        Night.write(source(i), Map.of("sub/" + file, "file %d of %d".formatted(file, i)));
                    }
                    night.register("E" + i, source(i));
                }
                night.complete();
            }
            for (int i = 0; i < EXPERIMENTS; i++) {
                Night.write(source(i), Map.of("sub/0", "other file 0 of " + i, "new/file", "new in " + i));
            }
            int whileLooking = 0;
            int whileSettling = 0;
            for (int kill = 1; kill <= KILLS; kill++) {
                long target = count(SENT) + SENT_A_KILL;
                NightProcess.start(256, folder.resolve("child.log"), site.address(), database, SETTINGS)
                        .killWhen(() -> count(SENT) >= target && count(SETTLING) > 0);
                // What was being settled a moment before may just have been.
                whileSettling += count(SETTLING) > 0 ? 1 : 0;
                whileLooking += Math.toIntExact(
                        count("select count(*) from run where state = 'RUNNING' and looked_at is null"));
            }
            System.out.printf(
                    "killed %d times, %d times while settling, %d times while looking%n",
                    KILLS, whileSettling, whileLooking);
            assertThat(whileSettling).isPositive();
            assertThat(whileLooking).isPositive();

            try (Night night = new Night(database, site.address(), SETTINGS)) {
                night.goOn();
                assertThat(night.coverage().safe()).isTrue();
            }
            assertThat(count("select count(*) from protection where unsettled or tags_unknown"))
                    .isZero();
            for (int i = 0; i < EXPERIMENTS; i++) {
                NightlyBackupIT.assertSame(source(i), root.resolve("p/E%d/data".formatted(i)));
                NightlyBackupIT.assertChecks(root.resolve("p/E" + i));
                assertThat(root.resolve(".dozo/versions/p/E%d/2/data/sub/0".formatted(i)))
                        .hasContent("file 0 of " + i);
            }
            Bagit.assertValid(root.resolve("p/E" + new Random().nextInt(EXPERIMENTS)));
            assertThat(root.resolve(".dozo/incoming/p")).doesNotExist();
        }
    }

    /** Kills while units of several new experiments are claimed, which share archives, commands and transactions. */
    @Test
    void aNightOfTinyExperimentsThatIsKilledEndsAsIfItHadNotBeen() throws Exception {
        int experiments = TINY_A_KILL * (KILLS + 1);
        Path root = Files.createDirectory(folder.resolve("dr"));
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0)) {
            try (Night night = new Night(database, site.address(), FEW_AT_ONCE)) {
                for (int i = 0; i < experiments; i++) {
                    Files.createDirectory(source(i));
                    for (int file = 0; file < FILES; file++) {
                        Night.write(source(i), Map.of("sub/" + file, "file %d of %d".formatted(file, i)));
                    }
                    night.register("E" + i, source(i));
                }
            }
            int together = 0;
            for (int kill = 1; kill <= KILLS; kill++) {
                long target = count(SENT) + SENT_A_KILL / 2;
                NightProcess.start(256, folder.resolve("child.log"), site.address(), database, FEW_AT_ONCE)
                        .killWhen(() -> count(SENT) >= target && count(CLAIMED) > 2);
                together += count(CLAIMED) > 2 ? 1 : 0;
            }
            System.out.printf("killed %d times, %d times with claims of several experiments%n", KILLS, together);
            assertThat(together).isPositive();

            try (Night night = new Night(database, site.address(), FEW_AT_ONCE)) {
                night.goOn();
                assertThat(night.coverage().safe()).isTrue();
            }
            assertThat(count("""
                    select count(*) - count(distinct (experiment_id, entry_no)) from receipt, unnest(entry_nos) as n (entry_no)
                    """)).as("entries proven twice").isZero();
            for (int i = 0; i < experiments; i++) {
                NightlyBackupIT.assertSame(source(i), root.resolve("p/E%d/data".formatted(i)));
                NightlyBackupIT.assertChecks(root.resolve("p/E" + i));
            }
            assertThat(root.resolve(".dozo/incoming/p")).doesNotExist();
            assertThat(root.resolve(".dozo/versions")).doesNotExist();
        }
    }

    private Path source(int number) {
        return folder.resolve("source-" + number);
    }

    private long count(String sql) {
        return jdbc.sql(sql).query(Long.class).single();
    }
}
