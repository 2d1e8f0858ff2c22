package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.Ended;
import dozo.RunningService;
import dozo.command.Exit;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.run.Operations;
import dozo.run.Runs;
import java.io.ByteArrayInputStream;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A lab manager sees their experiments, backs them up at once, and follows the run by its experiments. */
class ChosenBackupTest {

    private static final String REST = "/api/v1/runs/experiments";

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @AutoClose
    private LoopbackSite site;

    /** The other project and its experiment have names that no random token on a page contains. */
    @BeforeEach
    void start() throws Exception {
        folder = folder.toRealPath();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        service = RunningService.shared();
        service.register("dr", site.address());
        experiment("P1", "S1");
        experiment("P1", "S2");
        experiment("OTHERS", "UNSEEN");
        service.createUser("jane", Role.LAB_MANAGER, "P1");
        service.createUser("rin", Role.AUDITOR);
    }

    private void experiment(String project, String code) throws Exception {
        Path source = Files.createDirectory(folder.resolve(code));
        Files.writeString(source.resolve("a"), code);
        service.createExperiment(project, code, source);
    }

    @Test
    void aLabManagerBacksUpTheirExperimentsAndNoOthers() {
        Answer started =
                service.as("jane").post(REST, "{\"experiments\": [\"P1/S1\"]}").expect(202);

        started.has("/kind", "CHOSEN").has("/chosen/experiments", 1).has("/requestedBy", "jane");
        long run = started.number("/id");
        assertThat(started.location()).isEqualTo("/api/v1/runs/" + run);
        service.awaitEnd(run);
        service.as("jane").get("/api/v1/runs/" + run).has("/state", "COMPLETE");
        service.as("jane")
                .get("/api/v1/runs/%d/experiments".formatted(run))
                .has("/items/0/project", "P1")
                .has("/items/0/code", "S1")
                .has("/items/0/state", "VERIFIED")
                .has("/items/0/bytes", 2)
                .has("/items/0/share", 100)
                .has("/items/1", "");
        assertThat(folder.resolve("dr/P1/S1/data/a")).content().isEqualTo("S1");
        assertThat(folder.resolve("dr/P1/S2")).doesNotExist();
        String missing = service.as("jane")
                .post(REST, "{\"experiments\": [\"P1/S2\", \"OTHERS/UNSEEN\"]}")
                .refused(422, "experiments")
                .string("/errors/0/message");
        assertThat(missing).isEqualTo("experiment OTHERS/UNSEEN does not exist");
        for (String body :
                List.of("{}", "{\"experiments\": []}", "{\"experiments\": [null]}", "{\"experiments\": [\"\"]}")) {
            service.as("jane").post(REST, body).refused(422, "experiments");
        }
        service.as("rin").post(REST, "{\"experiments\": [\"P1/S1\"]}").expect(403);
        service.as("jane").post("/api/v1/runs", "{}").expect(403);
    }

    /** A user sees of a run only what belongs to their projects. */
    @Test
    void theRunOfAnotherShowsNothingOfIt() {
        long run = service.post(REST, "{\"experiments\": [\"OTHERS/UNSEEN\", \"P1/S1\"]}")
                .number("/id");
        service.awaitEnd(run);

        service.as("jane").get("/api/v1/runs/" + run).has("/chosen/experiments", 1);
        assertThat(service.as("jane")
                        .get("/api/v1/runs/%d/experiments".formatted(run))
                        .text())
                .contains("S1")
                .doesNotContain("OTHERS", "UNSEEN");
        HttpClient browser = service.browser("jane");
        assertThat(service.page(browser, "/runs/" + run)).contains("P1/S1").doesNotContain("OTHERS", "UNSEEN");
        assertThat(service.part(browser, "/runs/" + run).text())
                .contains("P1/S1")
                .doesNotContain("OTHERS", "UNSEEN");
        service.get("/api/v1/runs/%d/experiments?limit=1".formatted(run)).has("/items/1", "");
        String next = service.get("/api/v1/runs/%d/experiments?limit=1".formatted(run))
                .string("/next");
        service.get("/api/v1/runs/%d/experiments?limit=1&after=%s".formatted(run, next))
                .has("/items/0/code", "UNSEEN")
                .has("/next", "");
        service.get("/api/v1/runs/999/experiments").isProblem(404);
        service.get("/api/v1/runs/%d/experiments?limit=0".formatted(run)).refused(422, "limit");
    }

    @Test
    void onlyOneRunGoesOnAndTheRefusalSaysWhatToDo() {
        long active = service.openRun().id();

        String why = service.as("jane")
                .post(REST, "{\"experiments\": [\"P1/S1\"]}")
                .refused(409, "run")
                .string("/errors/0/message");

        assertThat(why).contains("try again when it has ended");
        service.bean(Operations.class).stop(active, "test");
    }

    @Test
    void aCommandBacksUpSeveralAndListsThem() {
        Ended ended = Ended.dozo(service, "run --experiment P1/S1,P1/S2 --experiment OTHERS/UNSEEN --wait");

        ended.ends(Exit.WELL);
        long run = service.bean(Runs.class).latest().orElseThrow().id();
        assertThat(Ended.dozo(service, "run experiments " + run).ends(Exit.WELL).out())
                .containsPattern("P1/S1 +verified +1 +2 B +100 %")
                .contains("P1/S2", "OTHERS/UNSEEN");
        assertThat(Ended.dozo(service, "status " + run).out())
                .contains("  only chosen experiments: 3", "  its experiments: dozo run experiments " + run);
        assertThat(Ended.dozo(service, "run --experiment P1/S9")
                        .ends(Exit.REFUSED)
                        .err())
                .contains("experiment P1/S9 does not exist");
        assertThat(Ended.dozo(service, "run --experiment P1/S1").ends(Exit.WELL).out())
                .contains("has started: 1 experiments are backed up");
        service.awaitEnd(service.bean(Runs.class).latest().orElseThrow().id());
    }

    @Test
    void aFormBacksUpAnExperiment() {
        HttpClient browser = service.browser("jane");
        assertThat(service.page(browser, "/experiments/P1/S1"))
                .contains("/do/post/runs/experiments?experiments=P1/S1&amp;back=/runs/*");
        assertThat(service.page(browser, "/experiments?project=P1"))
                .contains(
                        "/do/post/runs/experiments?experiments=P1/S1&amp;experiments=P1/S2&amp;back=/runs/*",
                        "Back up these 2 now");
        assertThat(service.page(browser, "/experiments")).doesNotContain("Back up these");
        assertThat(service.page(browser, "/do/post/runs/experiments?experiments=P1/S1&experiments=P1/S2"))
                .contains("<h1>Back up now</h1>", "P1/S1\nP1/S2</textarea>");
        assertThat(service.page(service.browser("rin"), "/experiments/P1/S1")).doesNotContain("Back up now");

        assertThat(service.submit(browser, "/do/post/runs/experiments", "experiments=OTHERS%2FUNSEEN&confirmed=true")
                        .text())
                .contains("experiment OTHERS/UNSEEN does not exist");
        Answer run = service.submit(
                browser, "/do/post/runs/experiments", "experiments=P1%2FS1&confirmed=true&back=%2Fruns%2F*");

        long id = service.bean(Runs.class).latest().orElseThrow().id();
        assertThat(run.uri().getPath()).isEqualTo("/runs/" + id);
        service.awaitEnd(id);
        assertThat(service.page(browser, "/runs/" + id))
                .contains("Backup of chosen experiments", "P1/S1", "verified")
                .doesNotContain("data-events", "id=\"engine\"", "<tbody></tbody>");
    }

    @Test
    void whatIsTickedInTheListIsBackedUp() throws Exception {
        HttpClient browser = service.browser("jane");
        String button = "name=\"do\" value=\"/do/post/runs/experiments\"";
        assertThat(service.page(browser, "/experiments")).contains(button, ">Back up now</button>");
        assertThat(service.page(service.browser("rin"), "/experiments")).doesNotContain(button);
        String ticked = "do=%2Fdo%2Fpost%2Fruns%2Fexperiments&back=/experiments&experiments=P1%2FS1&experiments=";
        assertThat(service.submit(service.browser("rin"), "/experiments/selected", ticked + "P1%2FS2&confirmed=true")
                        .status())
                .isEqualTo(404);
        assertThat(service.submit(browser, "/experiments/selected", ticked + "P1%2FS2")
                        .text())
                .contains("<h1>Back up 2 experiments now?</h1>", "only these experiments", "name=\"site\"")
                .doesNotContain("<textarea", "??");

        Answer other = service.submit(browser, "/experiments/selected", ticked + "OTHERS%2FUNSEEN&confirmed=true");

        long first = service.bean(Runs.class).latest().orElseThrow().id();
        service.awaitEnd(first);
        assertThat(other.text())
                .contains("The backup of 1 experiment has started.", "value=\"OTHERS/UNSEEN\"", "does not exist");
        service.get("/api/v1/runs/" + first).has("/kind", "CHOSEN").has("/chosen/experiments", 1);
        Answer all = service.submit(browser, "/experiments/selected", ticked + "P1%2FS2&confirmed=true");
        assertThat(all.uri()).hasPath("/experiments");
        assertThat(all.text()).contains("The backup of 2 experiments has started.");
        long second = service.bean(Runs.class).latest().orElseThrow().id();
        assertThat(second).isGreaterThan(first);
        service.awaitEnd(second);
        assertThat(folder.resolve("dr/P1/S2/data/a")).content().isEqualTo("S2");
        assertThat(folder.resolve("dr/OTHERS")).doesNotExist();
        byte[] archive = service.submit(
                        browser,
                        "/experiments/selected",
                        "do=certificates&experiments=P1%2FS1+OTHERS%2FUNSEEN+P1%2FS2",
                        BodyHandlers.ofByteArray())
                .body();
        try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(archive))) {
            assertThat(zip.getNextEntry().getName()).isEqualTo("P1.S1.manifest-1.dr.certificate.zip");
            assertThat(new ZipInputStream(zip).getNextEntry().getName()).endsWith(".list.txt");
            assertThat(zip.getNextEntry().getName()).isEqualTo("P1.S2.manifest-1.dr.certificate.zip");
            assertThat(zip.getNextEntry().getName()).isEqualTo("NOT-CERTIFIED.txt");
            assertThat(zip.getNextEntry()).isNull();
        }

        service.post("/api/v1/experiments/P1/S2/retirement", "{\"reason\": \"closed\"}");
        assertThat(service.submit(browser, "/experiments/selected", ticked + "P1%2FS2&confirmed=true")
                        .expect(422)
                        .text())
                .as("none is backed up")
                .contains("experiment P1/S2 is retired", "value=\"P1/S1 P1/S2\"");
    }

    @Test
    void aRunInItsFirstMinuteShowsNoTableWithOnlyAHead() {
        long run = service.openRun().id();

        String page = service.page(service.browser(), "/runs/" + run);

        assertThat(page)
                .contains("Nothing to send so far.", "data-page=\"/runs/%d\"".formatted(run))
                .containsPattern("<details id=\"engine\" class=\"detail\"><summary>Engine</summary>")
                .containsPattern("aria-labelledby=\"lanes\" hidden=\"hidden\">")
                .containsPattern("aria-labelledby=\"partitions\" hidden=\"hidden\">");
        assertThat(service.page(service.browser("jane"), "/runs/" + run)).contains("Nothing to send so far.");
        service.bean(Operations.class).stop(run, "test");
        assertThat(service.page(service.browser(), "/runs/" + run)).contains("This run had nothing to send");
    }

    @Test
    void whatIsWrongLeadsToItsFindings() {
        long run = service.openRun().id();
        service.bean(Findings.class)
                .add(
                        run,
                        List.of(new Finding(
                                (int) service.count("select experiment_id from experiment where code = 'S2'"),
                                Problem.UNREADABLE,
                                "cannot be read")));
        HttpClient browser = service.browser("jane");

        String part = service.part(browser, "/runs/" + run).text();

        assertThat(part)
                .contains(
                        "needs attention",
                        "/findings?run=%d&amp;experiment=P1/S2&amp;reason=UNREADABLE&amp;all=true".formatted(run))
                .doesNotContain("<html", "id=\"engine\"");
        assertThat(service.page(browser, "/findings?run=%d&experiment=P1/S2&reason=UNREADABLE&all=true".formatted(run)))
                .contains("Unreadable");
        service.bean(Operations.class).stop(run, "test");
    }

    @Test
    void theOverviewOfALabManagerIsTheirExperiments() {
        service.jdbc()
                .sql(
                        "update experiment set title = 'Memory pilot', subject = 'A042', scanner = 'S7T', acquired_on = current_date where code = 'S1'")
                .update();
        service.awaitEnd(service.post(REST, "{\"experiments\": [\"P1/S1\", \"OTHERS/UNSEEN\"]}")
                .number("/id"));
        HttpClient browser = service.browser("jane");

        String page = service.page(browser, "/");

        assertThat(page)
                .contains("Arriving", "No visit is booked for today", "Being copied", "P1/S2", "/register")
                .contains("/do/post/runs/experiments?experiments=P1/S2&amp;back=/runs/*")
                .containsPattern(
                        "(?s)Memory pilot</a> <small[^>]*>P1/S1</small>.*S7T.*safe since [^<]* at dr.*/experiments/P1/S1/restore")
                .doesNotContain("OTHERS", "UNSEEN", "id=\"mine-needs\"", "??");
        assertThat(service.page(service.browser(), "/")).doesNotContain("Being copied", "id=\"mine");
        assertThat(service.look(browser, "/", "ja").text())
                .contains("から安全（dr）", "コピー中・コピー待ち")
                .doesNotContain("??");
    }

    @Test
    void theOverviewOfALabManagerBeginsWithWhatNeedsThem() {
        long run = service.openRun().id();
        service.bean(Findings.class)
                .add(
                        run,
                        List.of(new Finding(
                                (int) service.count("select experiment_id from experiment where code = 'S2'"),
                                Problem.UNREADABLE,
                                "cannot be read")));
        service.bean(Operations.class).stop(run, "test");
        service.jdbc().sql("""
                insert into booking (accession, project_id, scheduled_on, scheduled_time, ae_title, modality, procedure, origin, booked_at, booked_by)
                select 'A-77', project_id, current_date, '23:59', 'S7T', 'MR', 'fMRI motor', 'csv', now(), 'test' from project where code = 'P1'
                """).update();

        String page = service.page(service.browser("jane"), "/");

        assertThat(page.indexOf("Needs you")).isPositive().isLessThan(page.indexOf("Arriving"));
        assertThat(page)
                .containsPattern(
                        "(?s)Needs you.*P1/S2.*blocked.*Arriving.*23:59.*fMRI motor.*A-77.*expected today.*Being copied.*P1/S1")
                .contains("Nothing is safe yet.");
    }
}
