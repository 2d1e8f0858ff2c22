package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import dozo.RunningService;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.people.Role;
import dozo.registry.Experiments.Experiment;
import dozo.run.Operations;
import dozo.run.Runs;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A lab manager's day in a browser: the overview, a backup of an experiment, and its run, which ends on the page as it ended. */
class LabManagerBrowserIT {

    @TempDir
    Path folder;

    private RunningService service;
    private List<Experiment> experiments;
    private long run;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        service.saveUnreachable("dr");
        experiments = List.of(
                service.createExperiment("P1", "S1", folder.resolve("S1")),
                service.createExperiment("P1", "S2", folder.resolve("S2")),
                service.createExperiment("P1", "S3", folder.resolve("S3")));
        service.createUser("jane", Role.LAB_MANAGER, "P1");
        service.jdbc().sql("""
                update experiment set title = '視覚実験 Retinotopy pilot', scanner = 'S7T', acquired_on = current_date where code = 'S1'
                """).update();
        run = service.bean(Runs.class)
                .openChosen(
                        service.dr(),
                        experiments.stream().mapToInt(Experiment::id).toArray(),
                        "jane")
                .id();
    }

    @AfterEach
    void stop() {
        service.close();
    }

    @InEachLanguage
    void aRunIsFollowedByItsExperimentsToTheFinishedPage(String language) {
        Page page = open(language, 1280, ColorScheme.LIGHT);
        look(page, "/", "mine", language);
        assertThat(page.locator("#mine-copying")).isVisible();
        page.navigate(service.url() + "/runs/" + run);
        assertThat(page.locator("#experiments tbody tr")).hasCount(3);
        page.evaluate("window.neverLoadedAgain = true");
        unit(0, "VERIFIED");
        unit(1, "VERIFIED");
        unit(1, "PLANNED");
        service.bean(Findings.class)
                .add(run, List.of(new Finding(experiments.getLast().id(), Problem.UNREADABLE, "cannot be read")));

        assertThat(page.locator("#experiments .badge.busy")).hasCount(1);
        assertThat(page.locator("#experiments .badge.safe")).hasCount(1);
        assertThat(page.locator("#experiments tbody tr").first()).containsText("P1/S3");
        check(page, "run-experiments-live", language);
        service.bean(Operations.class).stop(run, "test");

        assertThat(page.locator("#run")).not().hasAttribute("data-events", Pattern.compile(".*"));
        assertThat(page.locator("#experiments .badge.gap")).hasCount(3);
        assertThat(page.evaluate("window.neverLoadedAgain")).isEqualTo(true);
        String ended = page.locator("#run").innerText();
        page.reload();
        assertThat(page.locator("#run").innerText()).isEqualTo(ended);
        check(page, "run-experiments-ended", language);
        page.context().close();
        Page narrow = open(language, 400, ColorScheme.DARK);
        look(narrow, "/", "mine-narrow", language);
        look(narrow, "/runs/" + run, "run-experiments-narrow", language);
        look(narrow, "/do/post/runs/experiments?experiments=P1/S1&back=/runs/*", "backup-now-narrow", language);
        narrow.context().close();
    }

    private Page open(String language, int width, ColorScheme colours) {
        Page page = Chromium.browser()
                .newContext(new NewContextOptions()
                        .setLocale(language)
                        .setViewportSize(width, 800)
                        .setColorScheme(colours))
                .newPage();
        page.navigate(service.url() + "/");
        page.fill("#username", "jane");
        page.fill("#password", RunningService.PASSWORD);
        page.click("button.main");
        return page;
    }

    private void look(Page page, String path, String name, String language) {
        page.navigate(service.url() + path);
        check(page, name, language);
    }

    private static void check(Page page, String name, String language) {
        if (Boolean.getBoolean("write.pages")) {
            page.screenshot(new Page.ScreenshotOptions()
                    .setFullPage(true)
                    .setPath(Path.of("target/pages/%s-%s.png".formatted(name, language))));
        }
        assertThat(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
                .as(name + " is too wide")
                .isEqualTo(0);
        assertThat(page.content()).as(name).doesNotContain("??");
        Axe.check(page, name + "-" + language, Axe.WCAG);
    }

    private void unit(int experiment, String state) {
        service.jdbc()
                .sql("""
                        insert into transfer_unit (run_id, experiment_id, site_id, kind, entry_nos, length_bytes, state, partition_no)
                        values (:run, :experiment, :site, 'LARGE', '{1}', 1000, :state, 0)
                        """)
                .param("run", run)
                .param("experiment", experiments.get(experiment).id())
                .param("site", service.dr().id())
                .param("state", state)
                .update();
    }
}
