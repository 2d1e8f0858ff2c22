package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dozo.RunningService;
import dozo.loopback.LoopbackSite;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An experiment whose source is gone is copied from one site to another on the pages, without a script. */
class ReplicateBrowserIT {

    @TempDir
    Path folder;

    private RunningService service;
    private LoopbackSite site;
    private Page page;

    @BeforeEach
    void start() throws Exception {
        Path source = Files.createDirectories(folder.resolve("data/visit"));
        Files.writeString(source.resolve("image"), "an image");
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectories(folder.resolve("site")), 0);
        Path second = Files.createDirectory(folder.resolve("second"));
        service = RunningService.shared();
        service.saveSite("dr", site.address());
        service.createExperiment("P1", "E1", source);
        BrowserContext context = Chromium.browser().newContext(new NewContextOptions().setJavaScriptEnabled(false));
        page = context.newPage();
        page.navigate(service.url() + "/");
        page.getByLabel("Name").fill("admin");
        page.getByLabel("Password").fill(service.password());
        click("Log in");
        page.navigate(service.url() + "/do/post/runs?back=/runs/*");
        page.locator("article button.main").click();
        awaitComplete();
        Files.move(source, folder.resolve("kept"));
        service.saveSite("second", site.address().withRoot(second.toString()));
    }

    @AfterEach
    void stop() {
        service.close();
        site.close();
        page.context().close();
    }

    @Test
    void anExperimentWithoutItsSourceIsCopied() {
        page.navigate(service.url() + "/runs");
        click("Copy from a site…");
        page.locator("#from").selectOption("dr");
        page.locator("#to").selectOption("dr");
        page.locator("#experiment").fill("P1/E1");
        click("Copy", "article button.main");
        assertThat(page.locator(".wrong")).containsText("expected a site other than dr");
        assertThat(page.locator("#experiment")).hasValue("P1/E1");

        page.locator("#to").selectOption("second");
        click("Copy", "article button.main");

        assertThat(page.locator("p.lead")).containsText("dr → second");
        awaitComplete();
        assertThat(folder.resolve("second/P1/E1/data/image")).hasContent("an image");
        page.navigate(service.url() + "/do/post/replications?from=dr&to=second&experiment=P1/E1&back=/runs/*");
        click("Copy", "article button.main");
        assertThat(page.locator(".wrong")).containsText("experiment P1/E1 is complete at site second");
    }

    /** Loads the run's page until it is over: nothing does that without a script. */
    private void awaitComplete() {
        Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> {
            page.reload();
            return page.locator("article").textContent().contains("Complete");
        });
    }

    private void click(String text) {
        click(text, "button, a");
    }

    private void click(String text, String among) {
        page.locator(among)
                .filter(new Locator.FilterOptions().setHasText(text))
                .first()
                .click();
    }
}
