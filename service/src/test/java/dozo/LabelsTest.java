package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Exit;
import dozo.people.Role;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Labels by command, by REST and on the pages. */
class LabelsTest {

    @TempDir
    Path folder;

    @AutoClose
    private RunningService service;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        for (String project : List.of("P1", "P9")) {
            service.createExperiment(project, "E1", folder.resolve(project));
        }
    }

    @Test
    void anExperimentIsLabelledFoundByItsLabelAndLosesIt() {
        assertThat(dozo("label add P1/E1 pilot")).isEqualTo(new Ended(0, "P1/E1 has the label pilot\n", ""));
        assertThat(dozo("label add P1/E1 pilot").code()).as("the same again").isZero();
        dozo("label add P9/E1", "follow up");

        assertThat(dozo("label list").out().lines()).hasSize(3);
        assertThat(dozo("label list --label pilot").out())
                .containsPattern("P1/E1 +pilot +admin")
                .doesNotContain("P9");
        assertThat(dozo("label list --project P9").out()).contains("follow up");
        service.get("/api/v1/labels?limit=1&after=P1/E1/pilot").has("/items/0/label", "follow up");

        assertThat(dozo("label remove P1/E1 pilot").out()).isEqualTo("P1/E1 no longer has the label pilot\n");
        assertThat(dozo("label remove P1/E1 pilot").code()).as("it has none").isEqualTo(Exit.REFUSED);
        assertThat(dozo("label list --label pilot").out()).isEqualTo("No such label.\n");
    }

    @Test
    void whatIsNoLabelAndWhatDoesNotExistIsRefused() {
        for (String wrong : List.of("", " ", "x".repeat(51), "two\nlines", "a/b", "_a")) {
            assertThat(dozo("label add P1/E1", wrong).ends(Exit.REFUSED).err())
                    .contains("label: expected a label of 1 to 50 letters");
        }
        assertThat(dozo("label add P1/E7 pilot").err()).contains("experiment \"P1/E7\" does not exist");
        dozo("label add P1 pilot").ends(Exit.USAGE);
    }

    @Test
    void onThePagesALabManagerLabelsOnlyExperimentsOfOwnProjects() throws Exception {
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        HttpClient lab = service.browser("lab");
        assertThat(page(lab, "/experiments/P1/E1")).contains("/do/post/experiments/P1/E1/labels?back=");
        assertThat(page(lab, "/do/post/experiments/P1/E1/labels")).contains("<h1>Label P1/E1</h1>");
        assertThat(page(lab, "/do/post/experiments/P9/E1/labels")).contains("does not exist or is not one of yours");

        dozo("label add P1/E1", "ä b");

        assertThat(page(lab, "/experiments/P1/E1")).contains("<b>ä b</b>", "Remove the label ä b");
    }

    private String page(HttpClient browser, String path) throws Exception {
        return service.page(browser, path);
    }

    private Ended dozo(String line, Object... more) {
        return Ended.dozo(service, line, more);
    }
}
