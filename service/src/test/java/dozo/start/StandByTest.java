package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.Answer;
import dozo.RunningService;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.loopback.LoopbackSite;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Of two services with one database one is active; the other shows everything, and takes over when it is asked to. */
@StartsServices(14)
class StandByTest {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    @TempDir
    Path folder;

    private final HikariDataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);

    @Test
    void aServiceThatStandsByShowsEverythingAndChangesNothing() throws Exception {
        try (RunningService active = start("one");
                RunningService other = start("two")) {
            assertService(active, "one", true);
            assertService(other, "two", false);
            assertThat(JdbcClient.create(active.bean(DataSource.class))
                            .sql("show tcp_keepalives_idle")
                            .query(String.class)
                            .single())
                    .as("seconds until the server looks for a machine that does not respond")
                    .isEqualTo("10");
            await().atMost(LIMIT)
                    .until(() -> active.get("/api/v1/service").text().contains("STANDS_BY"));
            Answer seen = other.get("/api/v1/service");
            seen.has("/services/0/name", "one");
            seen.has("/services/0/state", "ACTIVE");
            seen.has("/services/1/name", "two");
            seen.has("/services/1/state", "STANDS_BY");
            seen.has("/standByMissing", false);
            active.post("/api/v1/projects", "{\"code\": \"P1\"}").expect(201);
            String token = active.post("/api/v1/me/tokens", "{\"name\": \"both\"}")
                    .at("/secret")
                    .asString();

            other.get("/api/v1/projects/P1").expect(200);
            other.with("Bearer " + token).get("/api/v1/runs").expect(200);
            other.with(null).get("/actuator/health").expect(200);
            active.with(null).get("/actuator/health/active").expect(200);
            other.with(null).get("/actuator/health/active").expect(503);
            long rows = ledger();
            assertRefused(other.post("/api/v1/projects", "{\"code\": \"P2\"}"));
            assertRefused(other.post("/api/v1/runs", "{\"site\": \"dr\"}"));
            assertRefused(other.post("/api/v1/runs/1/pause", ""));
            assertRefused(other.post("/api/v1/runs/1/stop", ""));
            assertRefused(other.post("/api/v1/scrubs", "{}"));
            assertRefused(other.post("/api/v1/replications", "{}"));
            assertRefused(other.post("/api/v1/sites/dr/tuning", ""));
            assertRefused(other.put("/api/v1/sites/dr", "{}"));
            assertRefused(other.delete("/api/v1/sites/dr"));
            assertRefused(other.patch("/api/v1/users/admin", "{}"));
            assertRefused(other.post("/api/v1/me/tokens", "{\"name\": \"second\"}"));
            assertThat(ledger()).isEqualTo(rows);
        }
    }

    @Test
    void pagesSayThatTheServiceStandsByAndWhoIsActive() throws Exception {
        try (RunningService active = start("one");
                RunningService other = start("two")) {
            HttpClient here = active.browser();
            HttpClient there = other.browser();

            assertThat(active.page(here, "/runs")).doesNotContain("stands by");
            assertThat(other.look(there, "/runs", "en").expect(200).text())
                    .contains("This service stands by")
                    .contains("The service one has been active")
                    .contains("href=\"https://one.example.org\"");
            assertThat(other.look(there, "/runs", "ja").text()).contains("待機中").contains("one");
            assertThat(other.submit(there, "/do/post/projects", "code=P9&confirmed=true")
                            .expect(503)
                            .text())
                    .contains("Not now")
                    .contains("use https://one.example.org, which is active");
            assertThat(other.submit(there, "/audit/ledger/verification", "").status())
                    .as("a form that only reads")
                    .isNotEqualTo(503);
            assertThat(other.submit(there, "/logout", "").status()).isLessThan(400);
        }
    }

    @Test
    void theAdministratorsPasswordIsThatOfTheActiveService() throws Exception {
        try (RunningService active = start("one")) {
            Path other = StandByKeysTest.copied(folder.resolve("work"), folder.resolve("else"));
            Files.writeString(other.resolve("admin-password"), "another password\n");
            RunningService.start(other, database, Map.of("dozo.service.name", "two"))
                    .close();

            active.get("/api/v1/projects").expect(200);
        }
    }

    /** The night is due since before both were started. */
    @Test
    void oneNightIsStartedHoweverManyServicesHaveItsSchedule() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        Files.writeString(source.resolve("a"), "a");
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0)) {
            try (RunningService first = start("one")) {
                first.saveSite("dr", site.address());
                first.createExperiment("P1", "S1", source);
            }
            Timestamp longAgo = Timestamp.from(Instant.now().minus(Duration.ofDays(3)));
            jdbc.sql("update experiment set registered_at = :then")
                    .param("then", longAgo)
                    .update();
            jdbc.sql("update site set updated_at = :then")
                    .param("then", longAgo)
                    .update();

            RunningService active = scheduled("one");
            try (RunningService other = scheduled("two")) {
                try (active) {
                    await().atMost(LIMIT)
                            .until(() -> count("select count(*) from run where ended_at is not null") == 1);
                }
                await().atMost(LIMIT).until(() -> isActive(other));
                other.bean(dozo.run.Operations.class).recover();

                assertThat(count("select count(*) from run")).isEqualTo(1);
                assertThat(count("select count(*) from ledger where action = 'run.started'"))
                        .isEqualTo(1);
                assertThat(other.post("/api/v1/projects", "{\"code\": \"P2\"}").status())
                        .as("it is the active one now")
                        .isEqualTo(201);
            }
        }
    }

    @Test
    void aServiceThatEndsGivesItsLeaseBack() throws Exception {
        try (RunningService other = closingFirst()) {
            assertThat(count("select count(*) from service_lease where lease_until <= now() or name = 'two'"))
                    .as("nobody waits for its end")
                    .isEqualTo(1);
            await().atMost(LIMIT).until(() -> isActive(other));
            assertService(other, "two", true);
            Answer seen = other.get("/api/v1/service");
            seen.has("/services/0/state", "STOPPED");
            seen.has("/standByMissing", true);
            assertThat(other.page(other.browser(), "/"))
                    .doesNotContain("This service stands by")
                    .as("the former one has ended")
                    .contains("No service stands by")
                    .contains("one was stopped on");
        }
        try (RunningService again = start("one")) {
            assertService(again, "one", true);
        }
        assertThat(count("select term from service_lease")).isEqualTo(3);
    }

    @Test
    void aShortCutOfTheActiveServicesConnectionsChangesNothing() throws Exception {
        try (Relay relay = new Relay(
                URI.create(database.getJdbcUrl().substring("jdbc:".length())).getPort())) {
            relay.open();
            String through = database.getJdbcUrl().replaceFirst(":\\d+/", ":" + relay.port() + "/");
            try (RunningService active = start("one", Map.of("dozo.db.url", through));
                    RunningService other = start("two");
                    CapturedLog log = new CapturedLog()) {
                relay.refuse();
                await().atMost(LIMIT).until(() -> log.count("does not answer") == 1);
                // Here and not by time: the lease of a service on a loaded machine must not expire in this test.
                jdbc.sql("update service_lease set lease_until = now() + interval '1 hour'")
                        .update();
                relay.open();
                await().atMost(LIMIT).until(() -> log.count("answers again") == 1);

                assertService(active, "one", true);
                assertService(other, "two", false);
                assertThat(count("select term from service_lease")).isEqualTo(1);
            }
        }
    }

    private RunningService closingFirst() {
        RunningService first = start("one");
        RunningService other = start("two");
        first.close();
        return other;
    }

    private RunningService start(String name) {
        return start(name, Map.of());
    }

    private RunningService start(String name, Map<String, String> more) {
        Map<String, String> settings = new HashMap<>(Map.of(
                "dozo.service.name",
                name,
                "dozo.service.url",
                "https://" + name + ".example.org",
                "dozo.admin.password-file",
                password().toString(),
                RunningService.CLOCK,
                "on"));
        settings.putAll(more);
        return RunningService.start(folder.resolve("work"), database, settings);
    }

    private RunningService scheduled(String name) {
        return start(name, Map.of("dozo.schedule.cron", NightOfProcesses.OTHER_TIME));
    }

    /** Returns the file with the password of both; {@link RunningService} looks for it there. */
    private Path password() {
        try {
            Path file = Files.createDirectories(folder.resolve("work")).resolve("admin-password");
            return Files.exists(file) ? file : Files.writeString(file, "a password for both\n");
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static boolean isActive(RunningService service) {
        return service.get("/api/v1/service").at("/active").asBoolean();
    }

    private static void assertService(RunningService service, String name, boolean active) {
        Answer shown = service.get("/api/v1/service");
        shown.expect(200);
        shown.has("/name", name);
        shown.has("/active", active);
        shown.has("/activeName", active ? name : "one");
    }

    private static void assertRefused(Answer answer) {
        answer.isProblem(503);
        assertThat(answer.string("/detail"))
                .contains("this service stands by and changes nothing; use https://one.example.org");
        assertThat(answer.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
    }

    private long ledger() {
        return count("select count(*) from ledger");
    }

    private long count(String sql) {
        return jdbc.sql(sql).query((row, n) -> row.getLong(1)).single();
    }
}
