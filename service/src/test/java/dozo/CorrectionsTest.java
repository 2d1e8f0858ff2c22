package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.people.Role;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was typed of an experiment is corrected by command, by REST and on the pages. */
class CorrectionsTest {

    private static final String E1 = "/api/v1/experiments/P1/E1";

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        for (String project : List.of("P1", "P9")) {
            service.bean(Projects.class).create(project, "", "test");
            service.bean(Experiments.class)
                    .register(project, "E1", "Visaul grating", Files.createDirectory(folder.resolve(project)), "test");
        }
    }

    @Test
    void whatIsGivenIsCorrectedAndTheRestStays() {
        assertThat(Ended.dozo(service, "edit P1/E1 --modality MR --acquired 2026-10-01 --title", "Visual grating"))
                .isEqualTo(new Ended(0, "P1/E1 is corrected\n", ""));
        assertThat(Ended.dozo(service, "edit P1/E1 --subject S0042 --scanner S7T --note", "moved in run 3")
                        .code())
                .isZero();
        assertThat(Ended.dozo(service, "edit P1/E1 --scanner", "").code()).isZero();

        Answer now = service.get(E1);
        assertThat(now.at("/title").asString()).isEqualTo("Visual grating");
        assertThat(now.at("/modality").asString()).isEqualTo("MR");
        assertThat(now.at("/scanner").isMissingNode()).as("unknown again").isTrue();
        assertThat(now.at("/acquired").asString()).isEqualTo("2026-10-01");
        assertThat(now.at("/subject").asString()).isEqualTo("S0042");
        assertThat(now.at("/note").asString()).isEqualTo("moved in run 3");
        assertThat(service.get("/api/v1/experiments?q=s004")
                        .at("/items/0/project")
                        .asString())
                .as("found by the person's code")
                .isEqualTo("P1");
    }

    @Test
    void theLedgerHasEachChangedFieldAndNoText() {
        service.patch(E1, "{\"title\": \"Jane Doe\", \"note\": \"Jane\", \"modality\": \"MEG\"}");
        long rows = rows().size();
        service.patch(E1, "{\"modality\": \"MEG\"}");
        assertThat(rows()).as("what is so already").hasSize((int) rows);

        LedgerEntry row = rows().getLast();
        assertThat(row.subject()).isEqualTo("P1/E1");
        assertThat(row.detail())
                .contains("\"modality\"", "unknown → MEG", "title_sha256", "note_sha256")
                .doesNotContain("Jane", "scanner", "acquired");
    }

    @Test
    void allWrongFieldsAreRefusedAtOnceAndNothingChanges() {
        Answer refused = service.patch(
                E1,
                "{\"title\": \"x\\ny\", \"modality\": \"mr\", \"acquired\": \"1.10.2026\", \"subject\": \"Jane Doe\", \"note\": \"a\\tb\"}");
        assertThat(refused.status()).isEqualTo(422);
        for (String field : List.of("title", "acquired", "subject", "note")) {
            assertThat(refused.text()).contains("\"" + field + "\"");
        }
        assertThat(service.patch(E1, "{\"acquired\": \"2999-01-01\"}").text()).contains("is in the future");
        assertThat(service.get(E1).at("/title").asString()).isEqualTo("Visaul grating");
        assertThat(Ended.dozo(service, "edit P1/E7 --title x").err()).contains("experiment \"P1/E7\" does not exist");
        assertThat(Ended.dozo(service, "edit P1 --title x").code()).isEqualTo(Exit.USAGE);
        assertThat(service.askWith(
                                "PATCH",
                                E1,
                                "{\"title\": \"late\"}",
                                "If-Match",
                                "\"00000000000000000000000000000000\"")
                        .status())
                .as("somebody else has changed it")
                .isEqualTo(412);
    }

    /** The form shows what is there; what is emptied is unknown afterwards. */
    @Test
    void aLabManagerCorrectsExperimentsOfOwnProjectsByAForm() throws Exception {
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        service.patch(E1, "{\"scanner\": \"S7T\", \"note\": \"old\"}");
        HttpClient lab = service.browser("lab");
        String page = service.page(lab, "/experiments/P1/E1");
        assertThat(page).contains("/do/patch/experiments/P1/E1?title=Visaul%20grating", "scanner=S7T", "note=old");
        String form =
                service.page(lab, "/do/patch/experiments/P1/E1?title=Visaul%20grating&scanner=S7T&note=old&back=/x");
        assertThat(form).contains("<h1>Correct P1/E1</h1>", "value=\"Visaul grating\"", "value=\"S7T\"");
        assertThat(service.page(lab, "/do/patch/experiments/P9/E1")).contains("does not exist or is not one of yours");

        service.submit(lab, "/do/patch/experiments/P1/E1", "title=Visual+grating&scanner=&note=&confirmed=true");

        Answer now = service.get(E1);
        assertThat(now.at("/title").asString()).isEqualTo("Visual grating");
        assertThat(now.at("/scanner").isMissingNode()).isTrue();
        assertThat(now.at("/note").asString()).isEmpty();
    }

    @Test
    void aProjectGetsAnotherTitle() {
        assertThat(Ended.dozo(service, "project title P1", "Visual cortex").out())
                .isEqualTo("P1 has the title Visual cortex\n");
        service.get("/api/v1/projects/P1").has("/title", "Visual cortex");
        assertThat(service.ledger().getLast().detail()).doesNotContain("Visual");
        service.put("/api/v1/projects/P1/title", "{\"title\": \"two\\nlines\"}").refused(422, "title");
    }

    @Test
    void aSiteGetsATitleBesideItsName() {
        service.saveUnreachable("dr");
        assertThat(Ended.dozo(service, "site title dr", "Osaka, building 3").out())
                .isEqualTo("dr has the title Osaka, building 3\n");
        service.get("/api/v1/sites/dr").has("/name", "dr").has("/title", "Osaka, building 3");
        assertThat(service.ledger().getLast().detail()).contains("Osaka, building 3");
        assertThat(service.page(service.browser(), "/sites")).contains("dr (Osaka, building 3)</h2>", "/do/put/sites/dr/title");
        assertThat(Ended.dozo(service, "site show dr").out()).startsWith("site dr (Osaka, building 3) at ");
        service.saveUnreachable("dr");
        service.get("/api/v1/sites/dr").has("/title", "Osaka, building 3");
        service.put("/api/v1/sites/dr/title", "{\"title\": \"two\\nlines\"}").refused(422, "title");
        service.put("/api/v1/sites/none/title", "{\"title\": \"x\"}").isProblem(404);

        assertThat(Ended.dozo(service, "site title dr", "").out()).isEqualTo("dr has no title\n");
        assertThat(service.page(service.browser(), "/sites")).contains(">dr</h2>");
    }

    private List<LedgerEntry> rows() {
        return service.ledger().stream()
                .filter(row -> row.action().equals("experiment.corrected"))
                .toList();
    }
}
