package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.Ended;
import dozo.RunningService;
import dozo.ledger.Ledger;
import dozo.ledger.Verification;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The audit report over REST: the same figures as coverage, and plain refusals. */
class AuditApiTest {

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.shared();
        service.saveUnreachable("dr");
        service.post("/api/v1/projects", "{\"code\": \"P1\"}").expect(201);
        Path source = Files.createDirectory(folder.resolve("source"));
        service.post(
                        "/api/v1/experiments",
                        "{\"project\": \"P1\", \"code\": \"E1\", \"source\": \"%s\"}".formatted(source))
                .expect(201);
    }

    @Test
    void theFiguresAreThoseOfCoverage() {
        Answer report = service.get("/api/v1/audit/report");
        report.expect(200);
        assertThat(report.at("/sites/0/totals"))
                .isEqualTo(service.get("/api/v1/coverage").at("/totals"));
        assertThat(report.at("/sites/0/projects/0/totals"))
                .isEqualTo(service.get("/api/v1/coverage").at("/projects/0"));
        assertThat(report.string("/ledger/head/hash")).matches("[0-9a-f]{64}");
    }

    @Test
    void aVerificationIsInTheNextReport() {
        service.get("/api/v1/ledger/verification").has("/verdict", "INCOMPLETE");
        Answer report = service.get("/api/v1/audit/report?project=P1");
        report.has("/ledger/verification/verdict", "INCOMPLETE");
        assertThat(report.string("/ledger/verification/sentence"))
                .contains("Not compared with site dr", "dozo ledger verify");
        assertThat(Ended.dozo(service, "audit report").out()).contains("INCOMPLETE", "Not compared with site dr");
        assertThat(Ended.dozo(service, "ledger verify").out()).contains("Not compared with site dr");
        HttpClient browser = service.browser();
        assertThat(service.page(browser, "/audit/report")).contains("Not compared with site dr");
        assertThat(service.look(browser, "/audit/report", "ja").text()).contains("照合できませんでした");
        assertThat(service.page(browser, "/audit/ledger"))
                .contains("Unknown: nothing proves that the ledger is complete", "Not compared with site dr");
        assertThat(service.get("/api/v1/health").text()).contains("Not compared with site dr");
        service.submit(browser, "/audit/ledger/verification", "");
        assertThat(service.page(browser, "/audit/ledger")).contains("could not be compared:");
        service.bean(Ledger.class)
                .verified(new Verification(
                        Instant.now().plus(Duration.ofHours(1)), Verification.BROKEN, 7, 1, null, List.of()));
        assertThat(service.page(browser, "/audit/ledger"))
                .as("the service's own verification is later")
                .contains("The ledger is broken", "7 rows")
                .doesNotContain("could not be compared:");
    }

    @Test
    void wrongMomentsAndProjectsAreRefusedPlainly() {
        assertThat(service.get("/api/v1/audit/report?at=2999-01-01").text()).contains("2999-01-01 is in the future");
        service.get("/api/v1/audit/report?at=soon").expect(422);
        service.get("/api/v1/audit/report?project=P9").expect(422);
        Answer before = service.get("/api/v1/audit/report?at=2001-01-01");
        before.expect(200);
        assertThat(before.at("/sites/0/projects").isEmpty()).isTrue();
        assertThat(before.at("/sites/0/totals").isMissingNode())
                .as("unknown, not 0 %")
                .isTrue();
        assertThat(before.string("/registeredSince")).startsWith("20");
    }

    @Test
    void theEvidenceOfFilesIsCsv() {
        Answer files = service.get("/api/v1/audit/files?at=2026-01-01");
        files.expect(200);
        assertThat(files.text()).startsWith("project,experiment,manifest,path,");
        service.get("/api/v1/audit/files?project=P9").expect(422);
    }

    @Test
    void thePageShowsTheReportAndRefusesPlainly() {
        HttpClient browser = service.browser();
        assertThat(service.page(browser, "/audit/report")).contains("Audit report", "Site dr");
        assertThat(service.look(browser, "/audit/report", "ja").text()).contains("監査報告書");
        assertThat(service.page(browser, "/audit/report?at=2999-01-01")).contains("is in the future");
        assertThat(service.page(browser, "/audit/report?project=P9")).contains("does not exist");
        assertThat(service.page(browser, "/audit/report?at=2001-01-01&project=P1"))
                .contains("The first experiment was");
    }

    @Test
    void theFormerReportToPrintIsThisOne() {
        HttpClient browser = service.browser();
        assertThat(service.page(browser, "/audit")).contains("/audit/report").doesNotContain("report=true");
        assertThat(service.page(browser, "/audit?report=true&by=month&asOf=2001-01-01"))
                .contains("Audit report", "The first experiment was");
        assertThat(service.page(browser, "/audit?report=true&asOf=2001-01-01%26project%3DP9"))
                .contains("expected a date", "2001-01-01&amp;project=P9")
                .doesNotContain("does not exist");
    }
}
