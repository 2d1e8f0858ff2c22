package dozo.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import com.zaxxer.hikari.HikariDataSource;
import dozo.Answer;
import dozo.RunningService;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.ledger.Sight;
import dozo.loopback.Ports;
import dozo.registry.Refusal;
import dozo.report.Report.NightState;
import dozo.report.Report.SiteNight;
import dozo.report.Report.Verdict;
import jakarta.mail.internet.MimeMessage;
import jakarta.mail.internet.MimeMultipart;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The morning report says what the catalogue proves of a night, nothing kinder, and is told once. */
@StartsServices(3)
class MorningReportTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final ZoneId ZONE = ZoneId.of("Asia/Tokyo");
    private static final long TERABYTE = 1_200_000_000_000L;

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    private JdbcClient jdbc;
    private final LocalDate today = LocalDate.now(ZONE);

    @BeforeEach
    void start() {
        service = RunningService.shared(settings());
        jdbc = service.jdbc();
    }

    @Test
    void aGoodNightIsAllSafeAndToldInBothLanguages() throws Exception {
        seed("0 0 1 * * *");
        night(today.minusDays(1), "01:00", "02:00", "COMPLETE", 0);
        night(today, "01:00", "05:12", "COMPLETE", TERABYTE);
        safe("P1/E1", at(today, "04:00"));
        safe("P2/E2", at(today, "04:30"));

        Report report = at(Sight.EVERYTHING, today, "08:00");
        assertThat(report.verdict()).isEqualTo(Verdict.SAFE);
        assertThat(report.current()).isTrue();
        assertThat(report.sites()).singleElement().satisfies(site -> {
            assertThat(site.state()).isEqualTo(NightState.COMPLETE);
            assertThat(site.dueAt()).isEqualTo(at(today, "01:00"));
            assertThat(site.backups()).singleElement().satisfies(backup -> {
                assertThat(backup.experiments()).isEqualTo(2);
                assertThat(backup.bytes()).isEqualTo(TERABYTE);
                assertThat(backup.bytesPerSecond()).isBetween(79e6, 80e6);
            });
        });
        assertThat(text(report, Locale.ENGLISH))
                .contains(
                        "Morning report of ",
                        "\nAll that was due is safe at every site.\n",
                        "- dr: complete. ",
                        "  2 experiments became safe. Verified: 1.2 TB, 3,400 files, folders and links, 79 MB/s.\n",
                        "- Nothing. All that was due was done.\n",
                        "- None. All known data is safe.\n");
        assertThat(text(report, Locale.JAPANESE))
                .contains("朝の報告\n", "\n対象はすべて、どのバックアップ先でも安全です。\n", "- dr：完了。", "1.2 TB");
    }

    @Test
    void aNightThatBrokeOffIsSaidWithWhatIsNotSafe() throws Exception {
        seed("0 0 1 * * *");
        night(today.minusDays(1), "01:00", "02:00", "COMPLETE", 0);
        safe("P1/E1", at(today.minusDays(1), "01:30"));
        long run = night(today, "01:00", "01:20", "FAILED", 0);
        found(run, "P2/E2", "UNREADABLE");

        Report report = at(Sight.EVERYTHING, today, "08:00");
        assertThat(report.verdict()).isEqualTo(Verdict.NOT_SAFE);
        assertThat(report.sites()).singleElement().satisfies(site -> {
            assertThat(site.state()).isEqualTo(NightState.FAILED);
            assertThat(site.unsafe()).isEqualTo(1);
            assertThat(site.experimentsSafe()).isEqualTo(1);
        });
        assertThat(text(report, Locale.ENGLISH))
                .contains(
                        "\nNot all that was due is safe: ",
                        "- dr: broke off. ",
                        "  Nothing new was verified.\n  Reason: the line was cut\n",
                        "- dr: 1 experiment of 2 was due and is not safe.\n  P2/E2: Unreadable. Waits since ",
                        "1.0 MB in 1 file.\n",
                        "- dr: P2/E2, since ")
                .doesNotContain("All that was due was done", "All known data is safe");
        assertThat(text(report, Locale.JAPANESE)).contains("途中で失敗", "読み取り不可");

        Report ofOne = at(Sight.of(List.of("P1")), today, "08:00");
        assertThat(ofOne.experiments()).as("a lab manager of P1 sees P1 only").isEqualTo(1);
        assertThat(ofOne.verdict()).as("but not that all was read").isNotIn(Verdict.SAFE, Verdict.SAFE_BUT);
        assertThat(text(ofOne, Locale.ENGLISH))
                .contains("broke off")
                .doesNotContain("P2", "the line was cut", "Unreadable");
    }

    @Test
    void aNightThatDidNotStartIsSaidAlsoIfAllThatIsKnownIsSafe() throws Exception {
        seed("0 0 1 * * *");
        night(today.minusDays(1), "01:00", "02:00", "COMPLETE", 0);
        safe("P1/E1", at(today.minusDays(1), "01:30"));
        safe("P2/E2", at(today.minusDays(1), "01:30"));

        assertThat(at(Sight.EVERYTHING, today, "00:30").sites())
                .extracting(SiteNight::state)
                .containsExactly(NightState.NOT_YET);
        Report report = at(Sight.EVERYTHING, today, "08:00");
        assertThat(report.verdict()).isEqualTo(Verdict.UNKNOWN);
        assertThat(text(report, Locale.ENGLISH))
                .contains(
                        "It is not known whether all that was due is safe: The night to site dr that was due ",
                        "- dr: no night started. One was due ")
                .doesNotContain("All that was due was done");

        assertThat(make(today, "07:59")).as("its window is not over").isEmpty();
        assertThat(make(today, "12:00")).containsExactly(today);
        jdbc.sql("update site_schedule set cron = '0 0 1 1 1 *'").update();
        assertThat(at(Sight.EVERYTHING, today, "13:00").sites())
                .as("the plan is remembered")
                .extracting(SiteNight::state)
                .containsExactly(NightState.NOT_STARTED);
        Report later = at(Sight.EVERYTHING, today.plusDays(1), today, "09:00");
        assertThat(later.verdict()).isEqualTo(Verdict.UNKNOWN);
        assertThat(later.sites()).extracting(SiteNight::state).containsExactly(NightState.NOT_STARTED);
    }

    @Test
    void withoutADueNightNothingIsSaidToBeDone() throws Exception {
        seed("0 0 1 * * " + today.plusDays(3).getDayOfWeek().name().substring(0, 3));
        night(today.minusDays(2), "01:00", "02:00", "COMPLETE", 0);
        safe("P1/E1", at(today.minusDays(2), "01:30"));
        safe("P2/E2", at(today.minusDays(2), "01:30"));

        Report report = at(Sight.EVERYTHING, today, "08:00");
        assertThat(report.verdict()).isEqualTo(Verdict.SAFE);
        assertThat(text(report, Locale.ENGLISH))
                .contains("- dr: no night was due, and none started.")
                .doesNotContain("All that was due was done");
        assertThat(make(today, "11:59")).isEmpty();
        assertThat(make(today, "12:00")).containsExactly(today);

        Report before = at(Sight.EVERYTHING, today, today.minusDays(1), "08:00");
        assertThat(before.sites())
                .as("what was planned then is not known")
                .extracting(SiteNight::state)
                .containsExactly(NightState.UNRECORDED);
        assertThat(before.verdict()).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void beforeTheFirstNightNothingIsSaidToBeSafe() throws Exception {
        seed("0 0 1 1 1 *");

        Report report = at(Sight.EVERYTHING, today, "08:00");
        assertThat(report.verdict()).isEqualTo(Verdict.NOT_SAFE);
        assertThat(report.sites()).singleElement().satisfies(site -> {
            assertThat(site.unsafe()).isEqualTo(2);
            assertThat(site.later()).isZero();
        });
    }

    @Test
    void anEarlierReportSaysOnlyWhatIsKnownOfItsTime() throws Exception {
        seed("0 0 1 * * *");
        LocalDate day = today.minusDays(2);
        night(day, "01:00", "02:00", "COMPLETE", TERABYTE);
        safe("P1/E1", at(day, "01:30"));
        night(day.plusDays(1), "01:00", "02:00", "COMPLETE", 0);
        safe("P2/E2", at(day.plusDays(1), "01:30"));
        jdbc.sql("""
                insert into alert (kind, site_id, count, subject, raised_at, seen_at, cleared_at)
                values ('SITE_FULL', 1, 1, 'dr', :from, :from, :until)
                """)
                .param("from", Timestamp.from(at(day, "01:10")))
                .param("until", Timestamp.from(at(day, "20:00")))
                .update();

        Report then = at(Sight.EVERYTHING, today, day, "09:00");
        assertThat(then.current()).isFalse();
        assertThat(then.verdict()).isEqualTo(Verdict.NOT_SAFE);
        assertThat(then.sites()).singleElement().satisfies(site -> {
            assertThat(site.unsafe() + site.later()).isEqualTo(1);
            assertThat(site.findings()).isNull();
            assertThat(site.tonight()).isNull();
        });
        assertThat(text(then, Locale.ENGLISH))
                .contains("what the catalogue knows of that time", "What needed a person then\n- Site dr is full.")
                .doesNotContain("The next night", "today");

        Report after = at(Sight.EVERYTHING, today, day.plusDays(1), "09:00");
        assertThat(after.verdict()).isEqualTo(Verdict.SAFE);
    }

    @Test
    void daysOfWhichThereIsNoReportAreRefusedPlainly() throws Exception {
        assertThat(service.get("/api/v1/report?date=" + today.minusDays(1))
                        .expect(422)
                        .text())
                .contains("no night has started yet");
        service.get("/api/v1/report").has("/verdict", "NONE");

        seed("0 0 1 * * *");
        night(today.minusDays(1), "01:00", "02:00", "COMPLETE", 0);
        Map<String, String> refusals = Map.of(
                "tomorrow",
                "expected a date",
                "2026-02-30",
                "expected a date",
                today.plusDays(1).toString(),
                "is in the future",
                today.minusDays(2).toString(),
                "the first night was that of " + today.minusDays(1));
        refusals.forEach((date, said) -> {
            Answer refused = service.get("/api/v1/report?date=" + date);
            assertThat(refused.status()).as(date).isEqualTo(422);
            assertThat(refused.text()).as(date).contains(said);
        });
        service.get("/api/v1/report?language=fr").expect(422);
        assertThat(service.get("/api/v1/report?language=ja&date=" + today.minusDays(1))
                        .string("/text"))
                .contains("朝の報告");
        assertThatThrownBy(() -> service.bean(Reports.class).of(Sight.EVERYTHING, today.plusDays(400)))
                .isInstanceOf(Refusal.class);
    }

    @Test
    void eachRecipientGetsTheReportOnceAlsoIfTheServiceIsStartedAgain() throws Exception {
        ServerSetup setup = new ServerSetup(Ports.free(), "127.0.0.1", ServerSetup.PROTOCOL_SMTP);
        GreenMail mail = new GreenMail(setup);
        mail.start();
        try {
            HikariDataSource database = TestDatabase.fresh();
            start(database, setup.getPort());
            seed("0 0 1 * * *");
            night(today.minusDays(1), "01:00", "02:00", "COMPLETE", 0);
            night(today, "01:00", "05:12", "FINDINGS", TERABYTE);
            safe("P1/E1", at(today, "04:00"));
            save("it", "{\"mail\": \"it@example.org\"}");
            save("lab", "{\"mail\": \"lab@example.org\", \"language\": \"ja\", \"projects\": [\"P1\"]}");
            save("no", "{\"mail\": \"no@example.org\", \"morningReport\": false}");
            save("chat", "{\"webhookFile\": \"/no/such/file\"}");

            assertThat(make(today, "08:00")).contains(today);
            assertThat(make(today, "08:01")).isEmpty();
            // The test's morning may be later than this one.
            jdbc.sql("update alert_message set due_at = now() - interval '1 minute'")
                    .update();
            List<MimeMessage> reports = reports(mail, 2);
            MimeMessage english = to(reports, "it@example.org");
            assertThat(english.getSubject()).startsWith("Dozo, ").contains(": Not all that was due is safe: ");
            MimeMultipart parts = (MimeMultipart) english.getContent();
            assertThat(parts.getContentType()).startsWith("multipart/alternative");
            String html = (String) parts.getBodyPart(1).getContent();
            assertThat((String) parts.getBodyPart(0).getContent())
                    .contains("- dr: ended with findings", "See: https://dozo.example.org/report?date=" + today);
            assertThat(html)
                    .contains("<html lang=\"en\">", "href=\"https://dozo.example.org/runs/", "P2/E2")
                    .doesNotContain("src=", "<link", "<script", "url(");
            assertThat((String) ((MimeMultipart) to(reports, "lab@example.org").getContent())
                            .getBodyPart(1)
                            .getContent())
                    .contains("<html lang=\"ja\">", "朝の報告")
                    .doesNotContain("P2");
            start(database, setup.getPort());
            assertThat(make(today, "09:00")).isEmpty();
            save("it", "{\"mail\": \"it@example.org\", \"morningReport\": false}");
            save("it", "{\"mail\": \"it@example.org\"}");
            assertThat(make(today, "10:00")).isEmpty();
            assertThat(written()).isEqualTo(2);

            // A service that died between the server's acceptance and its own record.
            jdbc.sql("""
                    update alert_message m set sent_at = null, claimed_until = null
                    from recipient r where r.recipient_id = m.recipient_id and r.name = 'it'
                    """).update();
            List<MimeMessage> all = reports(mail, 3);
            assertThat(all.stream().filter(each -> recipient(each).equals("it@example.org")))
                    .extracting(MimeMessage::getMessageID)
                    .hasSize(2)
                    .containsOnly(to(all, "it@example.org").getMessageID());
        } finally {
            mail.stop();
        }
    }

    @Test
    void theReportWaitsForAllNightsThatWereDueButNotBeyondNoon() throws Exception {
        seed("0 0 1 * * *");
        night(today.minusDays(1), "01:00", "02:00", "COMPLETE", 0);
        long run = night(today, "01:00", null, "RUNNING", 0);
        assertThat(make(today, "11:59").stream().filter(today::equals)).isEmpty();
        assertThat(at(Sight.EVERYTHING, today, "11:59").verdict()).isEqualTo(Verdict.NOT_SAFE);
        jdbc.sql("update run set state = 'STOPPED', ended_at = :at where run_id = :run")
                .param("at", Timestamp.from(at(today, "09:00")))
                .param("run", run)
                .update();
        assertThat(make(today, "09:01")).containsExactly(today);
    }

    /** Replaces the service by one that sends mail by itself. */
    private void start(HikariDataSource database, int port) {
        service.close();
        Map<String, String> settings = new HashMap<>(settings());
        settings.put("dozo.mail.host", "127.0.0.1");
        settings.put("dozo.mail.port", String.valueOf(port));
        settings.put("dozo.mail.tls", "none");
        settings.put(RunningService.CLOCK, "on");
        jdbc = JdbcClient.create(database);
        service = RunningService.start(folder.resolve("work"), database, settings);
    }

    private static Map<String, String> settings() {
        return Map.of(
                "dozo.service.name",
                "one",
                "dozo.service.url",
                "https://dozo.example.org",
                "dozo.schedule.zone",
                ZONE.getId());
    }

    /** Registers two experiments of two projects, read three days ago, and a site that is closed, so that no night starts by itself. */
    private void seed(String cron) throws Exception {
        for (String name : List.of("P1/E1", "P2/E2")) {
            String[] parts = name.split("/", 2);
            service.createExperiment(parts[0], parts[1], folder.resolve(parts[1]));
        }
        service.saveUnreachable("dr");
        jdbc.sql("insert into site_timetable values (1, :rules)")
                .param("rules", closedThisWeek())
                .update();
        jdbc.sql("insert into site_schedule (site_id, cron, since) values (1, :cron, '2026-01-01')")
                .param("cron", cron)
                .update();
        jdbc.sql("update experiment set registered_at = :at")
                .param("at", Timestamp.from(at(today.minusDays(3), "15:00")))
                .update();
        jdbc.sql("""
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                        entries_safe, unprotected_since, counted_at)
                select experiment_id, 1, 1, 1, 1000000, 1, 0, 0, 0, :at, :at from experiment
                """)
                .param("at", Timestamp.from(at(today.minusDays(3), "16:00")))
                .update();
    }

    /** NB: a site must be open at some time of a week. */
    private String[] closedThisWeek() {
        DayOfWeek open = today.plusDays(3).getDayOfWeek();
        return Arrays.stream(DayOfWeek.values())
                .map(day -> day.name().substring(0, 3).toLowerCase(Locale.ROOT)
                        + (day == open ? " 00:00-23:00 closed" : " 00:00-24:00 closed"))
                .toArray(String[]::new);
    }

    /** Stores a night of a morning to the site dr. Returns its run. */
    private long night(LocalDate day, String from, @Nullable String until, String state, long bytes) {
        long run = jdbc.sql("""
                        insert into run (kind, site_id, state, requested_by, started_at, ended_at, message)
                        values ('nightlyBackup', 1, :state, 'system', :from, :until::timestamptz, :message)
                        returning run_id
                        """)
                .param("state", state)
                .param("from", Timestamp.from(at(day, from)))
                .param("until", until == null ? null : at(day, until).toString())
                .param("message", state.equals("FAILED") ? "the line was cut" : "")
                .query(Long.class)
                .single();
        if (bytes > 0) {
            jdbc.sql("insert into run_total (run_id, project_id, bytes, entries) values (:run, 1, :bytes, 3400)")
                    .param("run", run)
                    .param("bytes", bytes)
                    .update();
        }
        return run;
    }

    private void safe(String experiment, Instant at) {
        jdbc.sql("""
                update protection t
                set files_safe = files, bytes_safe = bytes, entries_safe = entries, unprotected_since = null, counted_at = :at
                from experiment e join project p using (project_id)
                where e.experiment_id = t.experiment_id and p.code || '/' || e.code = :name
                """).param("at", Timestamp.from(at)).param("name", experiment).update();
    }

    private void found(long run, String experiment, String reason) {
        jdbc.sql("""
                insert into finding (run_id, last_run_id, experiment_id, reason, message, found_at, last_found_at)
                select :run, :run, e.experiment_id, :reason, '', now(), now()
                from experiment e join project p using (project_id) where p.code || '/' || e.code = :name
                """)
                .param("run", run)
                .param("reason", reason)
                .param("name", experiment)
                .update();
    }

    private static Instant at(LocalDate day, String time) {
        return day.atTime(LocalTime.parse(time)).atZone(ZONE).toInstant();
    }

    private Report at(Sight sight, LocalDate day, String time) {
        return at(sight, day, day, time);
    }

    /** Returns the report of a day as it is at a time of another day. */
    private Report at(Sight sight, LocalDate now, LocalDate day, String time) {
        return service.bean(Reports.class).of(sight, day, at(now, time));
    }

    private String text(Report report, Locale locale) {
        return service.bean(Teller.class).tell(report, locale).text();
    }

    private List<LocalDate> make(LocalDate day, String time) {
        return service.bean(MorningReports.class).make(at(day, time)).stream()
                .map(MorningReports.Written::day)
                .filter(day::equals)
                .toList();
    }

    private int written() {
        return jdbc.sql("select count(*) from alert_message where kind = 'REPORT' and night = :night")
                .param("night", today)
                .query(Integer.class)
                .single();
    }

    private void save(String name, String settings) {
        service.put("/api/v1/alerts/recipients/" + name, settings).expect(200);
    }

    /** Waits for reports; alerts may arrive between them. */
    private static List<MimeMessage> reports(GreenMail mail, int count) {
        await().atMost(LIMIT).until(() -> reports(mail).size() == count);
        return reports(mail);
    }

    private static List<MimeMessage> reports(GreenMail mail) {
        return Arrays.stream(mail.getReceivedMessages())
                .filter(each -> contentType(each).startsWith("multipart/"))
                .toList();
    }

    private static MimeMessage to(List<MimeMessage> all, String address) {
        return all.stream()
                .filter(each -> recipient(each).equals(address))
                .findFirst()
                .orElseThrow();
    }

    private static String contentType(MimeMessage message) {
        try {
            return message.getContentType();
        } catch (jakarta.mail.MessagingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String recipient(MimeMessage message) {
        try {
            return message.getAllRecipients()[0].toString();
        } catch (jakarta.mail.MessagingException e) {
            throw new IllegalStateException(e);
        }
    }
}
