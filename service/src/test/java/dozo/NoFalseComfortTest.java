package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.people.Role;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.LocalDate;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is not known or not there is not shown as good, nor as 0 %, on the pages, by command and in REST. */
class NoFalseComfortTest {

    private static final String PAST = "2026-01-01";

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    private HttpClient browser;

    @BeforeEach
    void start() {
        service = RunningService.shared();
        service.saveUnreachable("dr");
        browser = service.browser();
    }

    @Test
    void withoutABookingNothingHasArrivedAsBooked() throws Exception {
        assertThat(page("/gaps")).contains("Dozo knows no booking").doesNotContain("arrived as booked.");
        assertThat(dozo("gaps").out()).contains("No gap is known.", "without one, nothing can be compared");
        service.createProject("P1");
        service.createProject("P2");
        service.createUser("lab", Role.LAB_MANAGER, "P2");

        service.as("admin")
                .postCsv(
                        "/api/v1/bookings/bulk",
                        "accession,date,patient,project\nA1,%s,S1,P1\n"
                                .formatted(LocalDate.now().plusDays(9)))
                .expect(200);

        assertThat(page("/gaps")).contains("Every booked visit that is due arrived as booked.");
        assertThat(service.page(service.browser("lab"), "/gaps"))
                .as("a booking of another project says nothing")
                .contains("Dozo knows no booking");
        assertThat(page("/gaps?kind=late")).contains("No matching booking.");
        assertThat(page("/gaps?asOf=" + PAST)).as("none was known then").contains("Dozo knows no booking");
    }

    @Test
    void whatWasSafeBeforeRecordsBeganIsUnknown() throws Exception {
        service.createExperiment("P1", "E1", folder.resolve("source"));
        service.jdbc().sql("update experiment set registered_at = '2025-01-01'").update();
        service.jdbc().sql("update project set created_at = '2025-01-01'").update();

        Answer then = service.get("/api/v1/coverage?asOf=" + PAST);
        assertThat(then.at("/totals").isMissingNode()).isTrue();
        assertThat(then.at("/projects").isEmpty()).isTrue();
        service.get("/api/v1/coverage").has("/totals/experiments", 1);
        Answer groups = service.get("/api/v1/coverage/groups?by=project&asOf=" + PAST);
        groups.has("/items/0/name", "P1");
        assertThat(groups.at("/items/0/totals").isMissingNode()).isTrue();
        assertThat(service.get("/api/v1/coverage/groups?by=project&format=csv&asOf=" + PAST)
                        .text())
                .containsPattern(",P1,+\r\n");
        assertThat(page("/audit?asOf=" + PAST))
                .contains("Nothing is recorded about this site yet")
                .doesNotContain("0 %");
        assertThat(page("/audit/report?at=" + PAST))
                .contains("Nothing is recorded about this site yet")
                .doesNotContain("0 %");
        Ended coverage = dozo("coverage --as-of " + PAST).ends(Exit.NOT_SAFE);
        assertThat(coverage.out()).containsPattern("P1 +unknown").doesNotContain("0 %");
        assertThat(dozo("coverage --csv --as-of " + PAST).out()).contains("P1,,,,,,,,");
        assertThat(dozo("audit report --at " + PAST).ends(Exit.NOT_SAFE).out())
                .containsPattern("P1 +unknown")
                .doesNotContain("0 %");
    }

    @Test
    void aProjectWithoutExperimentsIsInTheCoverage() throws Exception {
        service.createExperiment("P1", "E1", folder.resolve("source"));
        service.createProject("P2");

        assertThat(service.get("/api/v1/coverage").text()).contains("\"project\":\"P2\"");
        for (String path : new String[] {"/", "/audit", "/audit/report"}) {
            assertThat(page(path)).as(path).contains("P2", "no experiments");
        }
        assertThat(dozo("coverage --by project").out()).containsPattern("P2 +none");
    }

    private String page(String path) {
        return service.page(browser, path);
    }

    private Ended dozo(String line) {
        return Ended.dozo(service, line);
    }
}
