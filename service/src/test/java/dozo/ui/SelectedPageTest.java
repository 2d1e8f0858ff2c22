package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.people.Role;
import dozo.people.Users;
import dozo.registry.Holds;
import dozo.registry.Labels;
import dozo.registry.Labels.Label;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Experiments that somebody has ticked in the list: each is done or refused for itself. Searches of lists are kept. */
class SelectedPageTest {

    private static final String SELECTED = "/experiments/selected";
    private static final String LABEL = "/do/post/experiments/{project}/{code}/labels";
    private static final String RETIRE = "/do/post/experiments/{project}/{code}/retirement";
    private static final String RESTORE = "/do/post/experiments/{project}/{code}/restores";

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    private static HttpClient admin;
    private static HttpClient lab;

    @BeforeAll
    static void start() throws Exception {
        service = RunningService.shared();
        for (String name : List.of("P1/E1", "P1/E2", "P1/E3", "P1/R1", "P1/R2", "P9/E1")) {
            service.createExperiment(
                    name.replaceFirst("/.*", ""), name.replaceFirst(".*/", ""), folder.resolve(name.replace('/', '-')));
        }
        service.patch("/api/v1/experiments/P1/E1", "{\"title\": \"Retinotopy <7T>\", \"subject\": \"S0042\"}");
        service.patch("/api/v1/experiments/P1/E2", "{\"subject\": \"S0043\", \"scanner\": \"S7T\"}");
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        admin = service.browser();
        lab = service.browser("lab");
    }

    @Test
    void theListOffersWhatTheUserMayDo() {
        assertThat(page(admin, "/experiments"))
                .contains("name=\"experiments\" value=\"P1/E1\"", "value=\"" + RETIRE + "\" class=\"destroys\"")
                .contains("value=\"" + LABEL + "\"", "value=\"" + RESTORE + "\"", "value=\"certificates\"")
                .contains("value=\"/do/post/drills\"", "value=\"/do/post/holds\"", "/experiments.csv?");
        assertThat(page(lab, "/experiments"))
                .contains("value=\"" + LABEL + "\"", "value=\"" + RESTORE + "\"")
                .doesNotContain(RETIRE, "/do/post/holds", "P9/E1");
    }

    @Test
    void whatIsRefusedHidesNothingAndStaysTicked() {
        String ticked = "do=" + encoded(RETIRE)
                + "&experiments=P1%2FR1&experiments=P1%2FR2&experiments=P1%2FNONE&back=/experiments?q=R";
        String form = service.submit(admin, SELECTED, ticked).text();
        assertThat(service.submit(admin, SELECTED, "do=" + encoded(LABEL) + "&experiments=P1%2FE1")
                        .text())
                .contains("<h1>Label 1 experiment</h1>", ">Retinotopy &lt;7T&gt;</a>");
        assertThat(form)
                .contains("<h1>Retire 3 experiments?</h1>", "value=\"P1/R1 P1/R2 P1/NONE\"")
                .contains("class=\"confirm destroys\"", "class=\"destroys\" name=\"confirmed\"")
                .contains("href=\"/experiments?q=R\"");
        String yes = ticked + "&confirmed=true&reason=closed";

        Answer none = service.submit(admin, SELECTED, ticked + "&confirmed=true&reason=");
        assertThat(none.text()).contains("expected a reason").contains("value=\"P1/R1 P1/R2 P1/NONE\"");
        service.submit(admin, "/do/post/experiments/P1/R1/retirement", "confirmed=true&reason=x&evenUnsafe=true");

        Answer some = service.submit(admin, SELECTED, yes + "&evenUnsafe=true").expect(200);

        assertThat(some.text())
                .contains("Done for 1 experiment.", "Refused for 2 experiments")
                .contains("is retired already", "P1/NONE")
                .contains("value=\"P1/R1 P1/NONE\"", "value=\"closed\"");
        service.get("/api/v1/experiments/P1/R2").has("/retired/reason", "closed");

        Answer undone = service.submit(
                admin,
                SELECTED,
                "do=" + encoded(RETIRE.replace("post", "delete"))
                        + "&experiments=P1%2FR1+P1%2FR2&confirmed=true&back=/experiments");
        assertThat(undone.text()).contains("Done for 2 experiments.");
        assertThat(service.get("/api/v1/experiments/P1/R2").at("/retired").isMissingNode())
                .isTrue();
    }

    @Test
    void whatIsMissingForAllIsSaidAtItsFieldAndNothingIsDone() {
        Answer none = service.submit(
                admin, SELECTED, "do=" + encoded(RETIRE) + "&experiments=P1%2FE1+P1%2FE2&confirmed=true&reason=");

        assertThat(none.expect(422).text()).contains("id=\"reason-error\"").doesNotContain("Refused for");
        assertThat(service.get("/api/v1/experiments/P1/E1").at("/retired").isMissingNode())
                .isTrue();
    }

    @Test
    void whatIsDoneForAllLeadsBackAndIsSaidOnceWithItsUndo() {
        Answer done = service.submit(
                admin,
                SELECTED,
                "do=" + encoded(RETIRE)
                        + "&experiments=P1%2FE3+P9%2FE1&confirmed=true&reason=over&evenUnsafe=true&back=/experiments?q=E");

        assertThat(done.uri()).hasPath("/experiments").hasQuery("q=E");
        assertThat(done.text())
                .contains("Done for 2 experiments.", "action=\"/experiments/selected\"")
                .contains("name=\"experiments\" value=\"P1/E3 P9/E1\"")
                .contains("name=\"do\" value=\"/do/delete/experiments/{project}/{code}/retirement\"");
        assertThat(page(admin, "/experiments")).doesNotContain("Done for");
        service.submit(
                admin,
                SELECTED,
                "do=" + encoded(RETIRE.replace("post", "delete")) + "&experiments=P1%2FE3+P9%2FE1&confirmed=true");
        assertThat(service.get("/api/v1/experiments/P9/E1").at("/retired").isMissingNode())
                .isTrue();
    }

    /** A user with two roles sees everything as an auditor, and labels only what is their own as a lab manager. */
    @Test
    void nobodyChangesWhatIsNotTheirs() {
        service.bean(Users.class)
                .create("both", RunningService.PASSWORD, Set.of(Role.LAB_MANAGER, Role.AUDITOR), "test");
        service.put("/api/v1/projects/P1/members/both", "");
        for (HttpClient browser : List.of(lab, service.browser("both"))) {
            String label = "&label=mine&confirmed=true&experiments=P1%2FE1+P9%2FE1+P1%2FE1%2Fx";
            Answer some = service.submit(browser, SELECTED, "do=" + encoded(LABEL) + label);

            assertThat(some.text())
                    .contains("Done for 1 experiment.")
                    .contains("value=\"P9/E1 P1/E1/x\"")
                    .contains("does not exist");
            assertThat(labels("P9")).isEmpty();
            assertThat(labels("P1")).contains("mine");
            service.submit(browser, "/do/delete/experiments/P1/E1/labels/mine", "confirmed=true");
        }
        for (String other : List.of(RETIRE, "/do/post/projects", "/do/post/runs/{id}/stop", "nothing", "")) {
            String answer = "do=" + encoded(other) + "&experiments=P1%2FE1&confirmed=true&reason=x";
            assertThat(service.submit(lab, SELECTED, answer).status()).as(other).isEqualTo(404);
        }
        String release = "do=" + encoded(RETIRE.replace("retirement", "release")) + "&experiments=P1%2FE1";
        assertThat(service.submit(admin, SELECTED, release).status())
                .as("not offered")
                .isEqualTo(404);
    }

    @Test
    void allThatASearchFindsAreChosenAgainByTheService() {
        String all = "do=" + encoded(LABEL) + "&all=true&filter=" + encoded("q=Retino%74opy+%3C7T&state=");
        assertThat(service.submit(lab, SELECTED, all).text())
                .contains("value=\"P1/E1\"")
                .doesNotContain("P1/E2");
        assertThat(service.submit(lab, SELECTED, "do=" + encoded(LABEL) + "&all=true&filter=")
                        .text())
                .contains("P1/E2")
                .doesNotContain("P9/E1");
        assertThat(service.submit(lab, SELECTED, all.replace("Retino", "%25x"))
                        .expect(422)
                        .text())
                .contains("question mark");
        String many = IntStream.rangeClosed(0, SelectedPage.MOST)
                .mapToObj(n -> "P1%2FX" + n)
                .collect(Collectors.joining("+"));
        assertThat(service.submit(lab, SELECTED, "do=" + encoded(LABEL) + "&experiments=" + many)
                        .expect(422)
                        .text())
                .contains("at most 500 experiments at once");
        Answer none = service.submit(lab, SELECTED, "do=" + encoded(LABEL) + "&back=/experiments");
        assertThat(none.uri()).hasPath("/experiments");
        assertThat(none.text()).contains("Tick at least one experiment first.");
        assertThat(service.look(lab, SELECTED, "en").uri()).hasPath("/experiments");
    }

    @Test
    void anOperationWhoseFieldsNameTheExperimentIsDoneForEach() {
        String hold = "do=" + encoded("/do/post/holds") + "&experiments=P1%2FE1+P1%2FE2";
        assertThat(service.submit(admin, SELECTED, hold).text())
                .contains("Place a hold on each of 2 experiments", "name=\"until\"")
                .doesNotContain("name=\"project\"", "name=\"experiment\"");
        long before = service.bean(Holds.class).standing("P1", 100).size();

        service.submit(admin, SELECTED, hold + "&reason=asked&confirmed=true");

        assertThat(service.bean(Holds.class).standing("P1", 100)).hasSize((int) before + 2);
    }

    @Test
    void everyRestoreGetsAFolderOfItsOwnBelowItsProject() throws IOException {
        String asked = "do=" + encoded(RESTORE) + "&experiments=P1%2FE1+P1%2FE2";
        assertThat(service.submit(lab, SELECTED, asked).text())
                .contains("value=\"{root}/{project}-{code}\"")
                .doesNotContain("name=\"patterns\"", "name=\"manifest\"");
        Answer refused = service.submit(lab, SELECTED, asked + "&folder={root}/{code}&confirmed=true");
        assertThat(refused.text()).contains("P1/E1 has no such manifest", "P1/E2 has no such manifest");
    }

    @Test
    void whatIsNotCertifiedIsInTheArchiveWithWhy() throws Exception {
        service.saveUnreachable("elsewhere");
        byte[] archive = service.submit(
                        lab, SELECTED, "do=certificates&experiments=P1%2FE1+P9%2FE1", BodyHandlers.ofByteArray())
                .body();
        try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(archive))) {
            assertThat(zip.getNextEntry()).hasFieldOrPropertyWithValue("name", "NOT-CERTIFIED.txt");
            assertThat(new String(zip.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("P1/E1: ", "P9/E1: experiment \"P9/E1\" does not exist");
        }
        assertThat(service.submit(lab, SELECTED, "do=certificates").expect(422).text())
                .contains("tick at least one experiment");
    }

    @Test
    void aListNamesAnExperimentByWhatItIs() {
        assertThat(page(lab, "/experiments"))
                .contains(">Retinotopy &lt;7T&gt;</a>", ">S0043</a>", "<code>P1/E2</code>");
        service.bean(Holds.class).place("P1", experiment("P1/E2"), "asked", null, "test");
        assertThat(page(admin, "/holds"))
                .containsPattern("href=\"/experiments/P1/E2\">S0043</a>")
                .contains("S7T</span> <code class=\"quiet\">P1/E2</code>");
    }

    @Test
    void aSearchIsKeptForItsUserAndItsAddressWorksForOthers() {
        String keep = "/do/put/me/searches/experiments/*";
        String query = "&confirmed=true&back=/experiments?q=E1&query=" + encoded("q=E1&project=P9");
        assertThat(page(admin, "/experiments?q=E1&project=P9&state=&after="))
                .contains("action=\"" + keep + "\"", "name=\"query\" value=\"q=E1&amp;project=P9\"")
                .contains("/experiments.csv?q=E1&amp;project=P9");

        assertThat(service.submit(admin, keep, "name=Ours" + query).text())
                .contains("The search is kept.")
                .as("it may have replaced another, which its removal would not bring back")
                .doesNotContain(">Undo</button>")
                .contains("href=\"/experiments?q=E1&amp;project=P9\"", ">Ours</a>")
                .contains("action=\"/do/delete/me/searches/experiments/Ours\"");
        assertThat(page(lab, "/experiments")).doesNotContain("Ours");
        assertThat(page(lab, "/experiments?q=E1&project=P9")).contains("No matching experiment.");
        service.get("/api/v1/me/searches").has("/items/0/list", "experiments").has("/items/0/query", "q=E1&project=P9");

        String removed = service.submit(
                        admin, "/do/delete/me/searches/experiments/Ours", "confirmed=true&back=/experiments")
                .text();
        assertThat(removed).contains("The search Ours is removed.").doesNotContain(">Ours</a>");
        String undo = Pattern.compile("action=\"(/do/put/me/searches/[^\"]*)\"")
                .matcher(removed)
                .results()
                .map(found -> found.group(1).replace("&amp;", "&"))
                .findFirst()
                .orElseThrow();
        assertThat(service.submit(admin, undo, "confirmed=true&back=/experiments")
                        .text())
                .contains(">Ours</a>");
        service.get("/api/v1/me/searches").has("/items/0/query", "q=E1&project=P9");
        service.delete("/api/v1/me/searches/experiments/Ours").expect(200);
        service.delete("/api/v1/me/searches/experiments/Ours").isProblem(404);
    }

    @Test
    void whatIsNoSearchIsNotKept() {
        String mine = "/api/v1/me/searches/gaps/";
        service.put("/api/v1/me/searches/users/x", "{\"query\": \"q=1\"}").refused(422, "list");
        service.put(mine + "%20", "{\"query\": \"q=1\"}").refused(422, "name");
        for (String wrong : List.of("", "a b", "a#b", "a\\\"b", "a<b", "a\\nb", "é", "x".repeat(2_001))) {
            assertThat(service.put(mine + "x", "{\"query\": \"" + wrong + "\"}").status())
                    .as(wrong)
                    .isIn(400, 422);
        }
        for (int n = 0; n < 100; n++) {
            service.put(mine + n, "{\"query\": \"kind=late\"}").expect(200);
        }
        service.put(mine + 1, "{\"query\": \"kind=late\"}").expect(200);
        service.put(mine + 1, "{\"query\": \"kind=arrived\"}").expect(200);
        service.put(mine + "more", "{\"query\": \"kind=late\"}").refused(409, "name");
        service.jdbc().sql("delete from saved_search where list = 'gaps'").update();
    }

    @Test
    void aListIsCsvByOneLink() {
        Answer csv = service.look(lab, "/experiments.csv?q=Retino&project=&state=&sort=-name", "en");

        assertThat(csv.type()).startsWith("text/csv");
        assertThat(csv.text()).contains("Retinotopy <7T>").doesNotContain("E2", "P9");
        for (String list : List.of(
                "findings.csv?project=&reason=&run=&all=true", "runs.csv", "drills.csv?project=", "holds.csv")) {
            Answer other = service.look(lab, "/" + list, "en").expect(200);
            assertThat(other.type()).as(list).startsWith("text/csv");
            assertThat(other.text()).startsWith("id,");
        }
    }

    private static int experiment(String name) {
        return service.jdbc()
                .sql(
                        "select experiment_id from experiment join project p using (project_id) where p.code || '/' || experiment.code = ?")
                .param(name)
                .query(Integer.class)
                .single();
    }

    private static List<String> labels(String project) {
        return service.bean(Labels.class).page(dozo.ledger.Sight.EVERYTHING, project, null, "", 100).stream()
                .map(Label::label)
                .toList();
    }

    private static String page(HttpClient browser, String path) {
        return service.look(browser, path, "en").expect(200).text();
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
