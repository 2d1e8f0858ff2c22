package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dozo.RunningService.PASSWORD;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions.ContainsTextOptions;
import com.microsoft.playwright.options.AriaRole;
import dozo.RunningService;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.registry.Projects;
import dozo.registry.RestorePlaces;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a lab manager, an operator and an auditor do on a usual day, from the first page on and by the pages alone, with the clicks that each
 * task takes. Prints them.
 */
class LabManagersDayBrowserIT {

    private static final ContainsTextOptions PATIENTLY = new ContainsTextOptions().setTimeout(120_000);

    /** Counts what a person does with mouse and fields; a click that a key or a program made has no detail. */
    private static final String COUNT = """
            for (const [event, key] of [["click", "clicks"], ["change", "fields"]]) {
                addEventListener(event, it => {
                    if (it.isTrusted && (event !== "click" || (it.detail > 0 && !it.target.matches("label")))
                            && (event !== "change" || it.target.matches("input:not([type=checkbox]), textarea, select"))) {
                        sessionStorage[key] = Number(sessionStorage[key] ?? 0) + 1;
                    }
                }, true);
            }
            """;

    @TempDir
    Path folder;

    private final List<String> told = new ArrayList<>();
    private RunningService service;
    private LoopbackSite site;
    private Page page;

    /** What somebody does with a page. */
    @FunctionalInterface
    private interface Task {
        void run() throws Exception;
    }

    @BeforeEach
    void start() throws Exception {
        Path data = Files.createDirectories(folder.resolve("data"));
        for (String visit : List.of("visit-1", "visit-2", "visit-3")) {
            Files.writeString(Files.createDirectories(data.resolve(visit)).resolve("notes.txt"), "notes of " + visit);
        }
        Path past = Files.createDirectories(data.resolve("2025/anat"));
        Files.writeString(past.resolve("sub-0042_T1w.nii"), "an image of last year");
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectories(folder.resolve("site")), 0);
        service = RunningService.shared();
        service.saveSite("dr", site.address());
        service.createProject("P1");
        service.bean(Projects.class).setRoots("P1", List.of(data.toRealPath()), "test");
        Path restored = Files.createDirectories(folder.resolve("restored")).toRealPath();
        service.bean(RestorePlaces.class).setRoots("P1", List.of(restored), "test");
        service.createUser("lab", Role.LAB_MANAGER, "P1");
        service.createUser("operator", Role.OPERATOR);
        service.createUser("auditor", Role.AUDITOR);
        service.createExperiment("P1", "OLD", data.resolve("2025").toRealPath());
        service.backUp();
    }

    @AfterEach
    void stop() {
        service.close();
        site.close();
    }

    @Test
    void aUsualDayTakesFewClicks() throws Exception {
        as("lab");
        task("register three folders", 8, () -> {
            nav("Experiments");
            click("Register");
            click("Register from folders");
            Locator boxes = page.locator("tbody input[type=checkbox]");
            assertThat(boxes).hasCount(3);
            boxes.all().forEach(Locator::check);
            click("Continue with the chosen folders");
            page.locator("article button.main").click();
            assertThat(page.locator(".notice.safe")).containsText("3 experiments are registered");
        });
        task("find a file of last year by a part of its name", 1, () -> {
            find("0042 t1w", "sub-0042_T1w.nii");
            assertThat(page.locator("article")).containsText("sub-0042_T1w.nii");
        });
        task("restore it", 2, () -> {
            click("Restore");
            page.locator("article button.main").click();
            assertThat(page.locator("h1")).containsText("complete", PATIENTLY);
        });
        assertThat(folder.resolve("restored")).isDirectoryRecursivelyContaining("glob:**/sub-0042_T1w.nii");
        as("operator");
        task("retire an experiment", 4, () -> {
            find("OLD", "P1/OLD");
            click("Retire…");
            page.locator("#reason").fill("the study has ended");
            page.locator("article button.main, article button.destroys").first().click();
            assertThat(page.locator("article")).containsText("Retired");
        });
        as("auditor");
        task("prove to an auditor that an experiment is safe", 4, () -> {
            find("P1/OLD", "P1/OLD");
            assertThat(page.locator(".answer")).containsText("verified");
            click("Certificate…");
            Download given = page.waitForDownload(() -> click("Download the certificate"));
            assertThat(given.suggestedFilename()).endsWith(".zip");
        });
        told.forEach(System.out::println);
    }

    /** Does a task, and states its clicks. */
    private void task(String name, int clicksMost, Task task) throws Exception {
        page.evaluate("sessionStorage.clear()");
        long began = System.nanoTime();
        task.run();
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        int clicks =
                Integer.parseInt(page.evaluate("sessionStorage.clicks ?? '0'").toString());
        int fields =
                Integer.parseInt(page.evaluate("sessionStorage.fields ?? '0'").toString());
        told.add("%-55s %2d clicks %2d fields %5.1f s".formatted(name, clicks, fields, took.toMillis() / 1e3));
        assertThat(clicks).as(name).isBetween(1, clicksMost);
    }

    private void as(String user) {
        BrowserContext context = Chromium.browser().newContext();
        context.addInitScript(COUNT);
        page = context.newPage();
        page.navigate(service.url() + "/");
        page.getByLabel("Name").fill(user);
        page.getByLabel("Password").fill(PASSWORD);
        click("Log in");
        // The page with the form has all that a page has, too: only the address says that somebody is logged in.
        page.waitForURL(service.url() + "/");
    }

    private void nav(String name) {
        page.locator(".top nav")
                .getByRole(AriaRole.LINK, new Locator.GetByRoleOptions().setName(name))
                .first()
                .click();
    }

    /** Types into the search field, and takes the first suggestion with the text when it is there: others come while one types. */
    private void find(String typed, String suggestion) {
        // A key that comes before the scripts of the page is lost.
        page.waitForLoadState();
        page.keyboard().press("/");
        assertThat(page.locator("#search")).isFocused();
        page.keyboard().type(typed);
        page.locator("#suggestions a")
                .filter(new Locator.FilterOptions().setHasText(suggestion))
                .first()
                .click();
    }

    /** Clicks the first button or link of the page with this text. */
    private void click(String text) {
        page.locator("main button, main a")
                .filter(new Locator.FilterOptions().setHasText(text))
                .first()
                .click();
    }
}
