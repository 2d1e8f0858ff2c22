package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Page.ScreenshotOptions;
import com.microsoft.playwright.assertions.LocatorAssertions.ContainsTextOptions;
import com.microsoft.playwright.options.AriaRole;
import dozo.RunningService;
import dozo.loopback.LoopbackSite;
import dozo.registry.Sites;
import dozo.remote.HostKey;
import dozo.remote.SiteAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages lead through a fresh installation: from nothing to a first experiment that is safe, and back. */
class FirstRunBrowserIT {

    private static final ContainsTextOptions PATIENTLY = new ContainsTextOptions().setTimeout(120_000);

    @TempDir
    Path folder;

    private RunningService service;
    private LoopbackSite site;
    private Page page;

    @BeforeEach
    void start() throws Exception {
        Files.writeString(Files.createDirectories(folder.resolve("data/visit")).resolve("image"), "an image");
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectories(folder.resolve("site")), 0);
        service = RunningService.shared();
        page = Chromium.browser()
                .newContext(new NewContextOptions().setViewportSize(1200, 640))
                .newPage();
    }

    @AfterEach
    void stop() {
        service.close();
        site.close();
        page.context().close();
    }

    @Test
    void fromNothingToASafeExperiment() throws Exception {
        logIn();
        assertThat(steps()).containsText("Add the site");
        assertThat(steps().getByText("done", new Locator.GetByTextOptions().setExact(true)))
                .hasCount(0);
        draw("first-steps");

        addSite();
        overview();
        assertThat(step(1)).containsText("done");

        click("Create a project");
        page.locator("#code").fill("P1");
        page.locator("#roots").fill(folder.resolve("nowhere").toString());
        click("Create");
        assertThat(page.locator(".wrong")).containsText("Source roots");
        page.locator("#roots").fill(folder.resolve("data").toString());
        click("Create");
        assertThat(page.locator("h1")).hasText("P1");
        assertThat(page.locator("article")).containsText(folder.resolve("data").toString());
        overview();
        assertThat(step(2)).containsText("done");

        click("Register an experiment");
        page.locator("#source").fill(folder.resolve("data/visit").toString());
        assertThat(page.locator("#project")).hasValue("P1");
        page.locator("#code").fill("E1");
        page.getByRole(
                        AriaRole.BUTTON,
                        new Page.GetByRoleOptions().setName("Register").setExact(true))
                .click();
        overview();
        assertThat(step(4)).containsText("done");

        click("Start it now");
        page.locator("article button.main").click();
        assertThat(page.locator("article")).containsText("Complete", PATIENTLY);
        overview();
        assertThat(page.locator("h1")).containsText("safe");
        assertThat(steps()).hasCount(0);
        draw("safe");
        page.navigate(service.url() + "/experiments/P1/E1/restore");
        assertThat(page.locator("h1")).containsText("Restore");
        draw("restore");

        removeSite();
        addItAgain();
    }

    /** Takes a picture for the first pages of the documentation. It proves nothing. */
    private void draw(String name) {
        if (Boolean.getBoolean("write.docs")) {
            page.screenshot(new ScreenshotOptions().setPath(Path.of("..", "docs", "start", name + ".png")));
        }
    }

    /** An entry that is wrong is kept, and nothing is asked from the host before all else is right. */
    private void addSite() throws Exception {
        SiteAddress address = site.address();
        click("Add a site…");
        Files.writeString(
                folder.resolve("sshd/authorized_keys"),
                page.locator("pre").textContent() + "\n",
                StandardOpenOption.APPEND);
        page.locator("#name").fill("dr");
        page.locator("#host").fill(address.host());
        page.locator("#port").fill("1");
        page.locator("#user").fill(address.user());
        page.locator("#root").fill("backup");
        click("Save and check");
        assertThat(page.locator(".wrong")).containsText("expected an absolute path at the site");
        assertThat(page.locator("#host")).hasValue(address.host());
        page.locator("#root").fill(address.root());
        click("Save and check");
        assertThat(page.locator(".wrong")).containsText("does not answer as an SSH server");
        page.locator("#port").fill(String.valueOf(address.port()));
        click("Save and check");

        assertThat(page.locator(".notice"))
                .containsText(HostKey.all(address.hostKey()).getFirst().fingerprint());
        assertThat(service.bean(Sites.class).all()).as("before it is compared").isEmpty();
        click("It is the same: save and check");
        assertThat(page.locator("h1")).containsText("What the check of dr found");
        assertThat(page.locator("article")).containsText("The site can be used");
        assertThat(service.dr().address())
                .isEqualTo(new SiteAddress(
                        address.host(),
                        address.port(),
                        address.user(),
                        address.root(),
                        service.work().toRealPath().resolve("site-key"),
                        address.hostKey()));
    }

    /** The copies no longer count, and are still there. */
    private void removeSite() throws Exception {
        page.navigate(service.url() + "/sites");
        page.getByLabel("Remove site dr").click();
        click("Remove it");
        assertThat(page.locator("article .error")).containsText("site dr has copies (experiments: 1)");
        assertThat(service.bean(Sites.class).all()).hasSize(1);
        page.getByText("Remove it although copies are there").click();
        click("Remove it");
        assertThat(page.locator("article")).containsText("There is no DR site yet");

        overview();
        assertThat(page.locator("h1")).containsText("not safe");
        assertThat(step(1).getByRole(AriaRole.LINK)).hasText("Add a site…");
        assertThat(folder.resolve("site/P1/E1/data/image")).hasContent("an image");
        service.get("/api/v1/runs/1").has("/site", "dr");
    }

    /** The same place can be added under another name: what is there is verified again. */
    private void addItAgain() {
        service.saveSite("dr2", site.address());
        page.navigate(service.url() + "/do/post/runs?back=/runs/*");
        page.locator("article button.main").click();
        assertThat(page.locator("article")).containsText("Complete", PATIENTLY);

        service.get("/api/v1/coverage?site=dr2").has("/headline", "safe");
        assertThat(folder.resolve("site/P1/E1/data/image")).hasContent("an image");
    }

    @Test
    void aSiteMovesToAnotherPort() throws Exception {
        service.saveSite("dr", site.address());
        logIn();
        page.navigate(service.url() + "/sites");
        page.getByLabel("Change site dr").click();
        assertThat(page.locator("#hostKey")).hasValue(site.address().hostKey());
        Page another = page.context().newPage();
        another.navigate(page.url());

        page.locator("#port").fill("1");
        click("Save and check");
        assertThat(page.locator("article")).containsText("The site could not be checked");

        another.locator("#root").fill("/elsewhere");
        another.getByText("Save and check").click();
        assertThat(another.locator("article")).containsText("was changed after you loaded the page");

        click("Change…");
        page.locator("#port").fill(String.valueOf(site.address().port()));
        // Without a key, the host is asked again.
        page.locator("#hostKey").fill("");
        click("Save and check");
        click("It is the same: save and check");
        assertThat(page.locator("article")).containsText("The site can be used");
        assertThat(service.dr().address()).isEqualTo(site.address());
        assertThat(List.of(service.get("/api/v1/ledger?limit=100").text().split("site.changed", -1)))
                .hasSize(3);
    }

    private void logIn() {
        page.navigate(service.url() + "/");
        page.getByLabel("Name").fill("admin");
        page.getByLabel("Password").fill(service.password());
        click("Log in");
    }

    private void overview() {
        page.navigate(service.url() + "/");
    }

    private Locator steps() {
        return page.locator("section.next");
    }

    private Locator step(int number) {
        return steps().locator("ol > li").nth(number - 1);
    }

    /** Clicks the first button or link with this text. */
    private void click(String text) {
        page.locator("button, a")
                .filter(new Locator.FilterOptions().setHasText(text))
                .first()
                .click();
    }
}
