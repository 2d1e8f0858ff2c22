package dozo.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.Application;
import dozo.db.ChildJava;
import dozo.db.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A backup whose process is killed leaves keys behind; the next one of the same service removes them. */
class KilledBackupIT {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    private Path folder;

    @Test
    void theKeysOfAKilledBackupAreRemovedByTheNextOneOfItsServiceAndThoseOfALivingOneStay() throws Exception {
        Path work = Files.createDirectory(folder.resolve("work"));
        Files.writeString(work.resolve("site-key"), "a key");
        Path backups = Files.createDirectory(folder.resolve("backups"));
        HikariDataSource database = TestDatabase.fresh();
        Process process;
        Path partial;
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            // The backup waits at this table, with the keys in its folder.
            connection.createStatement().execute("lock table project in access exclusive mode");
            process = backup(work, database, backups);
            try {
                await().atMost(LIMIT)
                        .until(() -> names(backups).stream()
                                .anyMatch(each -> Files.exists(backups.resolve(each + "/work/site-key"))));
                partial = backups.resolve(names(backups).getFirst());
                String owner = Files.readString(partial.resolve("in-work"));
                assertThat(owner).endsWith(" " + work);

                KeptBackups.removeLeftBehind(backups, owner);
                assertThat(partial.resolve("work/site-key"))
                        .as("its process lives")
                        .exists();
            } finally {
                process.destroyForcibly().waitFor();
            }
            connection.rollback();
        }
        KeptBackups.removeLeftBehind(backups, "another service " + work);
        assertThat(partial.resolve("work/site-key")).as("of this service").exists();
        // Between its creation and its mark a folder has no keys, and looks as if its process lived.
        Path young = Files.createDirectory(backups.resolve("dozo-20260301T000000Z.partial"));
        Path complete = Files.createDirectory(backups.resolve("dozo-20260301T000000Z"));
        Files.copy(partial.resolve("in-work"), complete.resolve("in-work"));

        assertThat(backup(work, database, backups).waitFor()).isZero();

        assertThat(partial).doesNotExist();
        assertThat(young).exists();
        assertThat(complete.resolve("in-work"))
                .as("only what has the name of a partial one is removed")
                .exists();
        assertThat(names(backups)).hasSize(3);
        assertThat(backups.resolve(names(backups).getLast())).isDirectoryNotContaining("glob:**in-work");
    }

    private Process backup(Path work, HikariDataSource database, Path backups) throws IOException {
        Path secret = folder.resolve("password");
        Files.writeString(secret, String.valueOf(database.getPassword()));
        ProcessBuilder command = ChildJava.of(Application.class)
                .arguments("backup", backups.toString())
                .fromCache()
                .process();
        command.environment()
                .putAll(Map.of(
                        "DOZO_WORK", work.toString(),
                        "DOZO_DB_URL", database.getJdbcUrl(),
                        "DOZO_DB_USER", String.valueOf(database.getUsername()),
                        "DOZO_DB_PASSWORD_FILE", secret.toString()));
        return command.redirectErrorStream(true)
                .redirectOutput(
                        folder.resolve("output-" + Instant.now().toEpochMilli()).toFile())
                .start();
    }

    private static List<String> names(Path parent) throws IOException {
        try (Stream<Path> all = Files.list(parent)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }
}
