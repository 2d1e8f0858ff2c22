package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.people.Role;
import dozo.remote.SiteAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The health of the service by its parts: each can be down, and then the whole is. */
class HealthApiTest {

    /** What makes a part down. */
    private static final Map<String, String> HARM = Map.of(
            "ledger",
            "insert into ledger_verification (began_at, verdict, rows_checked, breaches) values (now(), 'BROKEN', 9, 1)",
            "clock",
            """
            insert into run (kind, site_id, state, requested_by, started_at, ended_at)
            select 'scrub', site_id, 'COMPLETE', 'x', now() + interval '6 hours', now() + interval '6 hours' from site
            """,
            "site dr",
            """
            with failed as (
                insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                select 'nightlyBackup', site_id, 'FAILED', 'x', now(), now() from site returning run_id)
            insert into finding (run_id, last_run_id, reason, message, found_at, last_found_at)
            select run_id, run_id, 'SITE_UNREACHABLE', '', now(), now() from failed
            """,
            "messages",
            """
            with one as (
                insert into recipient (name, channel, address, language, active, morning_report)
                values ('it', 'mail', 'it@example.org', 'en', true, false) returning recipient_id)
            insert into alert_message (recipient_id, kind, turn, count, subject, created_at, due_at, error)
            select recipient_id, 'TEST', 0, 0, '', now(), now() + interval '1 hour', 'no answer' from one
            """);

    @TempDir
    Path folder;

    @Test
    void eachPartCanBeDownAndNothingUnknownIsUp() {
        try (RunningService service = RunningService.shared()) {
            JdbcClient jdbc = service.jdbc();
            SiteAddress nowhere = new SiteAddress("127.0.0.1", 1, "x", "/x", folder.resolve("key"), "ssh-ed25519 AAAA");
            service.saveSite("dr", nowhere);

            Map<String, String> first = parts(service);
            assertThat(first)
                    .containsEntry("database", "UP")
                    .containsEntry("service", "UP")
                    .containsEntry("run", "UP")
                    .containsEntry("broker", "UP")
                    .containsEntry("clock", "UP")
                    .containsEntry("messages", "UP")
                    .containsEntry("site dr", "UNKNOWN")
                    .containsEntry("ledger", "UNKNOWN")
                    .containsEntry("", "UNKNOWN")
                    .containsKey("disk");

            HARM.forEach((part, sql) -> {
                jdbc.sql(sql).update();
                assertThat(parts(service)).as(part).containsEntry(part, "DOWN").containsEntry("", "DOWN");
            });
        }
    }

    @Test
    void labManagersAreNotTold() {
        try (RunningService service = RunningService.shared()) {
            service.createUser("lab", Role.LAB_MANAGER);

            service.as("lab").get("/api/v1/health").expect(403);
        }
    }

    /** Returns the states by name; the whole has none. */
    private static Map<String, String> parts(RunningService service) {
        Answer health = service.get("/api/v1/health");
        health.expect(200);
        Map<String, String> parts = new HashMap<>(Map.of("", health.string("/state")));
        health.at("/parts")
                .forEach(part ->
                        parts.put(part.at("/name").asString(), part.at("/state").asString()));
        return parts;
    }
}
