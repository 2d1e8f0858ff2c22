package dozo.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dozo.alert.Condition;
import dozo.db.ActiveService;
import dozo.db.TestDatabase;
import dozo.start.Given;
import dozo.start.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

class BackupScheduleTest {

    private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");

    @TempDir
    private Path folder;

    private Instant now = START;

    @Test
    void oneADayIsMadeAndTheLastOnesStay() throws IOException {
        BackupSchedule schedule = schedule(Files.createDirectory(folder.resolve("backups")), 2);

        assertThat(schedule.backUpIfDue()).isTrue();
        now = START.plus(Duration.ofHours(23));
        assertThat(schedule.backUpIfDue()).isFalse();
        now = START.plus(Duration.ofHours(24));
        assertThat(schedule.backUpIfDue()).isTrue();
        Files.createDirectory(folder.resolve("backups/other"));
        now = START.plus(Duration.ofHours(48));
        assertThat(schedule.backUpIfDue()).isTrue();

        assertThat(folder.resolve("backups"))
                .isDirectoryNotContaining(each -> each.endsWith("dozo-20260301T000000Z"))
                .isDirectoryContaining(each -> each.endsWith("dozo-20260302T000000Z"))
                .isDirectoryContaining(each -> each.endsWith("dozo-20260303T000000Z"))
                .isDirectoryContaining(each -> each.endsWith("other"));
    }

    @Test
    void twoDaysWithoutOneAreAConditionUntilOneIsMade() throws IOException {
        Path backups = folder.resolve("backups");
        BackupSchedule schedule = schedule(backups, 7);
        assertThat(schedule.now()).isEmpty();

        for (int hours = 0; hours <= 48; hours += 12) {
            now = START.plus(Duration.ofHours(hours));
            assertThatThrownBy(schedule::backUpIfDue).isInstanceOf(IOException.class);
            assertThat(schedule.now()).isEmpty();
        }
        now = START.plus(Duration.ofHours(49));
        assertThat(schedule.now()).extracting(Condition::kind).isEqualTo(List.of(Condition.Kind.NOT_BACKED_UP));

        Files.createDirectory(backups);
        assertThat(schedule.backUpIfDue()).isTrue();
        assertThat(schedule.now()).isEmpty();
    }

    /** A clock that was a year ahead stops no backup for a year. */
    @Test
    void oneFromTheFutureDelaysNone() throws IOException {
        Path backups = Files.createDirectory(folder.resolve("backups"));
        Files.createDirectory(backups.resolve("dozo-20270301T000000Z"));

        assertThat(schedule(backups, 7).backUpIfDue()).isTrue();
    }

    private BackupSchedule schedule(Path backups, int keep) throws IOException {
        HikariDataSource database = TestDatabase.fresh();
        StandardEnvironment environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test",
                        Map.of(
                                "dozo.work",
                                        Files.createDirectory(folder.resolve("work"))
                                                .toString(),
                                "dozo.db.url", database.getJdbcUrl(),
                                "dozo.db.user", String.valueOf(database.getUsername()),
                                "dozo.db.password", String.valueOf(database.getPassword()))));
        return new BackupSchedule(
                new Given(environment, List.of(Settings.class)),
                new BackupSettings(backups.toString(), keep),
                () -> now,
                ActiveService.alone());
    }
}
