package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dozo.RunningService;
import dozo.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A start either succeeds or says in one line what is wrong and what is allowed. */
class StartTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    dozo.db.url              | mysql://x           | jdbc:postgresql://   | 78
                    dozo.db.password-file    | /not/there          | password-file        | 78
                    dozo.admin.password-file | /not/there          | admin.password-file  | 78
                    dozo.schedule.cron       | whenever            | 0 0 1 * * *          | 78
                    dozo.schedule.zone       | Mars/Base           | Asia/Tokyo           | 78
                    dozo.transfer.lanes      | 65                  | 0 to 64 is allowed   | 78
                    dozo.transfer.large      | 1KB                 | 65536 to             | 78
                    dozo.transfer.lanes      | many                | a whole number       | 78
                    dozo.scrub.max-age       | 0d                  | (DOZO_SCRUB_MAX_AGE) is PT0S: 1h to 3660d is allowed | 78
                    dozo.scrub.max-age       | -90d                | 1h to 3660d is allowed | 78
                    dozo.scrub.max-age       | soon                | a time as 10s, 36h, 90d is allowed | 78
                    dozo.scrub.window        | 20:00-20:00         | (DOZO_SCRUB_WINDOW) is "20:00-20:00": two different times | 78
                    dozo.scrub.limit         | -1MB                | 1B to 1TB is allowed | 78
                    dozo.scrub.limit         | 2TB                 | 1B to 1TB is allowed | 78
                    dozo.scrub.limit         | fast                | a size as 512KB, 200MB, 1GB is allowed | 78
                    dozo.scrub.cold          | perhaps             | true or false        | 78
                    server.port              | none                | a whole number       | 78
                    dozo.work                | /dev/null/work      | dozo.work            | 78
                    dozo.db.url              | jdbc:postgresql://127.0.0.1:1/x | cannot be used | 69
                    """)
    void aWrongSettingIsNamedWithWhatIsAllowed(String key, String value, String said, int exitCode) {
        Map<String, String> wrong = new HashMap<>(Map.of(key, value));
        if (key.equals("dozo.db.password-file")) {
            wrong.put("dozo.db.password", "");
        }

        StartFailure failure = failure(wrong);

        assertThat(failure.message()).contains(said).doesNotContain("Exception").doesNotContain("\n");
        assertThat(failure.exitCode()).isEqualTo(exitCode);
    }

    @Test
    void aDatabaseHasOneServiceAtATime() {
        PGSimpleDataSource database = TestDatabase.fresh();
        try (RunningService first = RunningService.start(folder.resolve("first"), database, Map.of())) {
            Throwable thrown = catchThrowable(() -> RunningService.start(folder.resolve("second"), database, Map.of()));

            StartFailure failure = StartFailure.of(thrown).orElseThrow(() -> new AssertionError(thrown));
            assertThat(failure.message()).contains("another Dozo");
            assertThat(failure.exitCode()).isEqualTo(69);
            assertThat(first.get("/api/v1/projects").status()).isEqualTo(200);
        }
        RunningService.start(folder.resolve("second"), database, Map.of()).close();
    }

    @Test
    void aPortHasOneServiceAtATime() {
        try (RunningService first = RunningService.start(folder.resolve("first"))) {
            String port = first.url().replaceAll(".*:", "");

            StartFailure failure = failure(Map.of("server.port", port));

            assertThat(failure.message()).contains(port).contains("DOZO_HTTP_PORT");
            assertThat(failure.exitCode()).isEqualTo(69);
        }
    }

    @Test
    void theFirstStartMakesAPasswordThatOnlyWeCanRead() throws Exception {
        Path work = folder.resolve("new/work");
        String password;
        try (RunningService service = RunningService.start(work)) {
            password = service.password();
            assertThat(password).hasSizeGreaterThanOrEqualTo(24);
            assertThat(Files.getPosixFilePermissions(service.passwordFile()))
                    .isEqualTo(PosixFilePermissions.fromString("rw-------"));
            assertThat(Files.getPosixFilePermissions(work)).isEqualTo(PosixFilePermissions.fromString("rwx------"));
        }
        try (RunningService again = RunningService.start(work)) {
            assertThat(again.password()).isEqualTo(password);
        }
    }

    @Test
    void theAdministratorsPasswordCanBeGiven() throws Exception {
        Path file = Files.writeString(folder.resolve("secret"), "correct horse\n");
        try (RunningService service = RunningService.start(
                folder.resolve("work"), TestDatabase.fresh(), Map.of("dozo.admin.password-file", file.toString()))) {
            assertThat(service.ask("GET", "/api/v1/projects", null, "correct horse")
                            .status())
                    .isEqualTo(200);
            assertThat(service.passwordFile()).doesNotExist();
        }
    }

    private StartFailure failure(Map<String, String> settings) {
        Throwable thrown =
                catchThrowable(() -> RunningService.start(folder.resolve("work"), TestDatabase.fresh(), settings)
                        .close());
        return StartFailure.of(thrown).orElseThrow(() -> new AssertionError("not told as a failure", thrown));
    }
}
