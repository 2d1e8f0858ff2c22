package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.backup.ServiceBackup;
import dozo.backup.ServiceRestore;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.ledger.Chain;
import dozo.ledger.Coverage;
import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Sites;
import dozo.run.Operations;
import dozo.run.Runs;
import dozo.send.FaultySite;
import dozo.start.Given;
import dozo.start.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A backup of Dozo that is made while a night sends files is of one moment, and the service that is restored from it changes nothing at the site. */
@StartsServices(2)
class BackupDuringNightIT {

    private static final int EXPERIMENTS = 3;
    private static final int FILES = 20;

    @TempDir
    private Path folder;

    @Test
    void theRestoredServiceGoesOnAfterABackupInTheMiddleOfANight() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        Path backups = Files.createDirectory(folder.resolve("backups"));
        Path root = Files.createDirectory(folder.resolve("dr"));
        AtomicInteger count = new AtomicInteger();
        Set<String> named = new ConcurrentSkipListSet<>();
        AtomicReference<@Nullable Given> given = new AtomicReference<>();
        AtomicReference<@Nullable Path> backup = new AtomicReference<>();
        try (FaultySite site = FaultySite.hooked(folder.resolve("state"), root, file -> {}, file -> {
            // The server has paths of its own file system.
            if (isData(root, Path.of(file.toString()))
                    && named.add(file.toString())
                    && count.incrementAndGet() == 2 * FILES
                    && given.get() instanceof Given settings) {
                backup.set(ServiceBackup.make(settings, backups, InstantSource.system())
                        .folder());
            }
        })) {
            long receipts;
            try (RunningService service = RunningService.start(folder.resolve("old"), database, Map.of())) {
                given.set(service.bean(Given.class));
                service.bean(Sites.class).save("dr", site.address(), "test");
                service.bean(Projects.class).create("P1", "", "test");
                for (int number = 1; number <= EXPERIMENTS; number++) {
                    service.bean(Experiments.class).register("P1", "E" + number, "", source(number), "test");
                    if (number == 1) {
                        night(service);
                    }
                }
                night(service);
                assertThat(service.bean(Coverage.class).all(1).safe()).isTrue();
                receipts = receipts(database);
            }
            Map<String, List<Object>> sent = data(root);
            assertThat(sent).hasSize(EXPERIMENTS * FILES);
            named.clear();

            HikariDataSource fresh = TestDatabase.empty();
            Path made = backup.get();
            assertThat(made).as("the backup in the middle of the night").isNotNull();
            ServiceRestore.restore(settings(folder.resolve("new"), fresh), made);
            assertThat(new Chain(JdbcClient.create(fresh)).check().breachesCount())
                    .isZero();
            long kept = receipts(fresh);
            assertThat(kept).as("receipts at the moment of the backup").isBetween((long) FILES, receipts - 1);

            try (RunningService service = RunningService.start(folder.resolve("new"), fresh, Map.of())) {
                // What it was doing at that moment goes on at its start.
                await().atMost(Duration.ofMinutes(2))
                        .until(() -> service.bean(Runs.class).page(Sight.EVERYTHING, Long.MAX_VALUE, 10).stream()
                                .noneMatch(Runs.Run::goesOn));
                night(service);
                assertThat(service.bean(Coverage.class).all(1).safe()).isTrue();
                assertThat(new Chain(JdbcClient.create(fresh)).check().breachesCount())
                        .isZero();
                assertThat(receipts(fresh)).as("each file has one receipt").isEqualTo(receipts);
            }
            assertThat(data(root))
                    .as("every file as it was sent the first time")
                    .isEqualTo(sent);
            assertThat(root.resolve(".dozo/versions")).doesNotExist();
            assertThat(named)
                    .as("what has a receipt in the backup is not sent again")
                    .noneMatch(file -> file.contains("/E1/"))
                    .hasSizeLessThanOrEqualTo((int) (receipts - kept));
        }
    }

    private static boolean isData(Path root, Path file) {
        return file.startsWith(root)
                && !root.relativize(file).startsWith(".dozo")
                && file.getFileName().toString().startsWith("file-");
    }

    private Path source(int number) throws IOException {
        Path source = Files.createDirectory(folder.resolve("source-" + number));
        for (int file = 0; file < FILES; file++) {
            Files.writeString(source.resolve("file-" + file), "content %d of %d".formatted(file, number));
        }
        return source;
    }

    private static void night(RunningService service) {
        long run = service.bean(Operations.class).start("dr", "test").id();
        await().atMost(Duration.ofMinutes(2))
                .until(() -> !service.bean(Runs.class).find(run).orElseThrow().goesOn());
        assertThat(service.jdbc()
                        .sql("select reason || ': ' || message from finding")
                        .query(String.class)
                        .list())
                .as("findings")
                .isEmpty();
    }

    private static long receipts(HikariDataSource database) {
        return JdbcClient.create(database)
                .sql("select coalesce(sum(cardinality(entry_nos)), 0) from receipt")
                .query(Long.class)
                .single();
    }

    /** Returns the files at the site with what changes when one is written again. */
    private static Map<String, List<Object>> data(Path root) throws IOException {
        Map<String, List<Object>> files = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path file : all.filter(each -> Files.isRegularFile(each) && isData(root, each))
                    .toList()) {
                BasicFileAttributes facts =
                        Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
                files.put(root.relativize(file).toString(), List.of(facts.fileKey(), facts.lastModifiedTime()));
            }
        }
        return files;
    }

    private static Settings settings(Path work, HikariDataSource database) {
        StandardEnvironment environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test",
                        Map.of(
                                "dozo.work", work.toString(),
                                "dozo.db.url", database.getJdbcUrl(),
                                "dozo.db.user", String.valueOf(database.getUsername()),
                                "dozo.db.password", String.valueOf(database.getPassword()))));
        return new Given(environment, List.of(Settings.class)).of(Settings.class);
    }
}
