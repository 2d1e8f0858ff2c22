package dozo.start;

import static dozo.RunningService.basic;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.RunningService;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A start succeeds, or says in one line what is wrong and what is expected. */
@StartsServices(14)
class StartTest {

    private static final String DATABASE_SECRET = "hush_database_1f0c";
    private static final String ADMINISTRATOR_SECRET = "hush administrator 77b2";
    private static final String DIRECTORY_SECRET = "hush directory 93aa";

    @TempDir
    Path folder;

    /** Errors that only show when the service starts; SettingsTest covers all others. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    dozo.db.url          | jdbc:postgresql://127.0.0.1:1/x | cannot connect to the database        | 69
                    dozo.http.address    | 203.0.113.1                     | (DOZO_HTTP_ADDRESS)   | 78
                    dozo.transfer.lanes  | 65                              | 0 to 64               | 78
                    """)
    void aStartThatFailsSaysWhyInALine(String key, String value, String said, int exitCode) {
        StartFailure failure = failure(Map.of(key, value));

        assertThat(failure.message()).contains(said).doesNotContain("Exception").doesNotContain("\n");
        assertThat(failure.exitCode()).isEqualTo(exitCode);
    }

    /** A unit of systemd does not start it again and again: exit code 78 (RestartPreventExitStatus). */
    @Test
    void aDatabaseThatDozoCannotUseIsRefusedBeforeAnythingIsMadeInIt() {
        HikariDataSource database = TestDatabase.empty();
        JdbcClient jdbc = JdbcClient.create(database);
        jdbc.sql("create database start_latin encoding 'LATIN1' locale 'C' template template0")
                .update();
        jdbc.sql("create role start_reader login password 'x'").update();
        try {
            String latin = database.getJdbcUrl().replaceFirst("/[^/?]+(?=$|\\?)", "/start_latin");
            StartFailure encoding = failure(Map.of("dozo.db.url", latin));
            assertThat(encoding.message())
                    .isEqualTo(
                            "the database cannot be used: the encoding of the database is LATIN1. Create another database with --encoding UTF8 --template template0.");
            assertThat(encoding.exitCode()).isEqualTo(StartFailure.CONFIGURATION);

            StartFailure rights = failure(Map.of(
                    "dozo.db.url", database.getJdbcUrl(), "dozo.db.user", "start_reader", "dozo.db.password", "x"));
            assertThat(rights.message())
                    .startsWith(
                            "the database cannot be used: the user may not create tables in schema public. Run as ");
            assertThat(rights.exitCode()).isEqualTo(StartFailure.CONFIGURATION);
            assertThat(jdbc.sql("select count(*) from pg_tables where schemaname = 'public'")
                            .query(Integer.class)
                            .single())
                    .isZero();
        } finally {
            jdbc.sql("drop database start_latin with (force)").update();
            jdbc.sql("drop role start_reader").update();
        }
    }

    @Test
    void noSecretIsInAnythingThatAStartTells() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient.create(database)
                .sql("create role %1$s login superuser password '%1$s'".formatted(DATABASE_SECRET))
                .update();
        Path output = folder.resolve("output");
        Process service = ServeProcess.start(
                folder.resolve("work"),
                output,
                Map.of(
                        "DOZO_DB_URL",
                        String.valueOf(database.getJdbcUrl()),
                        "DOZO_DB_USER",
                        DATABASE_SECRET,
                        "DOZO_DB_PASSWORD",
                        DATABASE_SECRET,
                        "DOZO_ADMIN_PASSWORD_FILE",
                        secretFile(ADMINISTRATOR_SECRET),
                        "LOGGING_LEVEL_DOZO",
                        "DEBUG",
                        "DOZO_LDAP_URL",
                        "ldap://127.0.0.1:1",
                        "DOZO_LDAP_BASE",
                        "dc=example",
                        "DOZO_LDAP_MANAGER_DN",
                        "cn=manager",
                        "DOZO_LDAP_MANAGER_PASSWORD_FILE",
                        secretFile(DIRECTORY_SECRET)));
        try {
            await().atMost(Duration.ofMinutes(5))
                    .until(() -> !service.isAlive() || Files.readString(output).contains("log in as admin"));
            Matcher address = Pattern.compile("listens at (http://\\S+)/").matcher(Files.readString(output));
            assertThat(address.find()).as(Files.readString(output)).isTrue();
            StringBuilder told = new StringBuilder(
                    String.join(" ", service.info().arguments().orElse(new String[0])));
            for (String path : List.of("/actuator/env", "/actuator/configprops", "/actuator/health", "/api/v1/me")) {
                for (String name : List.of("admin", "somebody")) {
                    told.append(ask(address.group(1) + path, basic(name, ADMINISTRATOR_SECRET)));
                }
            }
            told.append(JdbcClient.create(database)
                    .sql("select string_agg(l::text, ' ') from ledger l")
                    .query((row, n) -> row.getString(1))
                    .single());
            service.destroy();
            service.waitFor();
            told.append(Files.readString(output));

            assertThat(told.toString())
                    .contains("\"name\":\"admin\"")
                    .contains("user.created")
                    .doesNotContain(DATABASE_SECRET)
                    .doesNotContain(ADMINISTRATOR_SECRET)
                    .doesNotContain(DIRECTORY_SECRET);
        } finally {
            service.destroyForcibly();
        }
    }

    private String secretFile(String secret) throws IOException {
        return Files.writeString(folder.resolve("file-" + secret.hashCode()), secret + "\n")
                .toString();
    }

    private static String ask(String address, String authorization) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                            HttpRequest.newBuilder(URI.create(address))
                                    .header("Authorization", authorization)
                                    .build(),
                            BodyHandlers.ofString())
                    .body();
        }
    }

    @Test
    void aDatabaseHasOneServiceAtATime() {
        HikariDataSource database = TestDatabase.fresh();
        try (RunningService first = RunningService.start(folder.resolve("first"), database, Map.of())) {
            Throwable thrown = catchThrowable(() -> RunningService.start(folder.resolve("second"), database, Map.of()));

            StartFailure failure = StartFailure.of(thrown).orElseThrow(() -> new AssertionError(thrown));
            assertThat(failure.message()).contains("another Dozo");
            assertThat(failure.exitCode()).isEqualTo(69);
            first.get("/api/v1/projects").expect(200);
        }
        RunningService.start(folder.resolve("second"), database, Map.of()).close();
    }

    @Test
    void aDatabaseWithAnotherHistoryIsRefusedInALine() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient.create(database)
                .sql("update flyway_schema_history set version = '202611200001' where installed_rank = 1")
                .update();

        Throwable thrown = catchThrowable(() -> RunningService.start(folder.resolve("work"), database, Map.of()));

        StartFailure failure = StartFailure.of(thrown).orElseThrow(() -> new AssertionError(thrown));
        assertThat(failure.message()).contains("another version of Dozo").contains("Nothing was changed");
        assertThat(failure.exitCode()).isEqualTo(69);

        Path output = folder.resolve("output");
        Process service = ServeProcess.start(
                folder.resolve("work"),
                output,
                Map.of(
                        "DOZO_DB_URL", String.valueOf(database.getJdbcUrl()),
                        "DOZO_DB_USER", String.valueOf(database.getUsername()),
                        "DOZO_DB_PASSWORD", String.valueOf(database.getPassword())));
        try {
            assertThat(service.waitFor(5, TimeUnit.MINUTES)).isTrue();
            assertThat(service.exitValue()).isEqualTo(69);
            // A slow start says how far it is.
            assertThat(Files.readAllLines(output))
                    .filteredOn(line -> !line.contains("StartProgress"))
                    .singleElement(InstanceOfAssertFactories.STRING)
                    .contains(failure.message());
        } finally {
            service.destroyForcibly();
        }
    }

    @Test
    void aPortHasOneServiceAtATime() {
        try (RunningService first = RunningService.shared()) {
            String port = first.url().replaceAll(".*:", "");

            StartFailure failure = failure(Map.of("dozo.http.port", port));

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
            service.with(RunningService.basic("admin", "correct horse"))
                    .get("/api/v1/projects")
                    .expect(200);
            assertThat(service.passwordFile()).doesNotExist();
        }
    }

    private StartFailure failure(Map<String, String> settings) {
        Map<String, String> atOnce = new HashMap<>(Map.of("dozo.db.start-wait", "0s"));
        atOnce.putAll(settings);
        Throwable thrown =
                catchThrowable(() -> RunningService.start(folder.resolve("work"), TestDatabase.fresh(), atOnce)
                        .close());
        return StartFailure.of(thrown).orElseThrow(() -> new AssertionError("not told as a failure", thrown));
    }
}
