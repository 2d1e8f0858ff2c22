package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dozo.RunningService;
import dozo.registry.Erasures;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Holds and erasures on the pages. A hold is placed and ended on the pages, without a script; the pages of its project and experiment show it while it stands. */
class HoldsBrowserIT {

    private static final String REASON = "Inquiry of 鈴木 <2026-07>";

    @TempDir
    Path folder;

    private RunningService service;
    private Page page;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        service.createExperiment("P1", "E1", folder.resolve("visit"));
        page = Chromium.browser()
                .newContext(new NewContextOptions().setJavaScriptEnabled(false).setLocale("en"))
                .newPage();
        page.navigate(service.url() + "/");
        page.getByLabel("Name").fill("admin");
        page.getByLabel("Password").fill(service.password());
        click("Log in");
    }

    @AfterEach
    void stop() {
        service.close();
        page.context().close();
    }

    @Test
    void aHoldIsPlacedShownAndEnded() {
        showsNoHold("/administration/projects/P1");
        place("E9");
        assertThat(page.locator(".wrong")).containsText("experiment \"P1/E9\" does not exist");
        assertThat(page.locator("#reason")).hasValue(REASON);

        place("E1");

        Locator row = page.locator("tbody tr");
        assertThat(row).hasCount(1);
        assertThat(row).containsText("P1/E1");
        assertThat(row).containsText("stands");
        assertThat(row).containsText(REASON);
        for (String shown : new String[] {"/administration/projects/P1", "/experiments/P1/E1"}) {
            page.navigate(service.url() + shown);
            assertThat(page.locator("article")).containsText("Hold 1 stands on P1/E1: " + REASON);
        }

        page.navigate(service.url() + "/administration/projects/P1");
        click("All holds");
        page.getByLabel("End hold 1").click();
        page.getByLabel("Why it ends").fill("answered");
        click("End it");

        assertThat(row).containsText("over");
        assertThat(row).containsText("answered");
        assertThat(row.locator("a.button")).hasCount(0);
        showsNoHold("/administration/projects/P1");
        showsNoHold("/experiments/P1/E1");
        page.navigate(service.url() + "/holds");
        assertThat(page.locator(".flash")).hasCount(0);
    }

    @Test
    void theEndOfAHoldIsUndoneByTheSameHoldAgain() {
        place("E1");
        page.getByLabel("End hold 1").click();
        page.getByLabel("Why it ends").fill("a mistake");
        click("End it");

        click("Undo");

        Locator rows = page.locator("tbody tr");
        assertThat(rows).hasCount(2);
        assertThat(rows.first()).containsText("stands");
        assertThat(rows.first()).containsText(REASON);
    }

    /** The same pages and people as for holds. */
    @Test
    void anErasureIsRequestedNotApprovedByTheSamePersonAndWithdrawn() {
        request("/erasures", "E9");
        assertThat(page.locator(".wrong")).containsText("experiment \"P1/E9\" does not exist");
        assertThat(page.locator("#reason")).hasValue(REASON);

        request("/erasures", "E1");

        Locator row = page.locator("tbody tr");
        assertThat(row).hasCount(1);
        assertThat(row).containsText("to be approved");
        assertThat(row).containsText(REASON);
        page.navigate(service.url() + "/experiments/P1/E1");
        assertThat(page.locator("article"))
                .containsText(
                        "An erasure of this experiment is requested (erasure 1). Another person has to approve it.");
        page.navigate(service.url() + "/erasures");
        page.getByLabel("Approve erasure 1").click();
        click("Approve it");
        assertThat(page.locator("article"))
                .containsText("erasure 1 was requested by admin; another person has to approve it");

        service.bean(Erasures.class).approve(1, "boss");
        page.navigate(service.url() + "/erasures");
        assertThat(row).containsText("boss");
        assertThat(row).containsText("The first night after this time begins it:");
        page.getByLabel("Withdraw erasure 1").click();
        click("Withdraw it");
        assertThat(row).containsText("withdrawn");
        assertThat(row.locator("a.button")).hasCount(0);
    }

    private void place(String experiment) {
        request("/holds", experiment);
    }

    private void request(String address, String experiment) {
        page.navigate(service.url() + "/do/post" + address + "?project=P1&back=" + address);
        page.locator("#experiment").fill(experiment);
        page.locator("#reason").fill(REASON);
        page.locator("article button.destroys, article button.main").click();
    }

    private void showsNoHold(String address) {
        page.navigate(service.url() + address);
        assertThat(page.locator("h1")).isVisible();
        assertThat(page.locator("article")).not().containsText("Hold 1");
    }

    private void click(String text) {
        page.locator("button, a")
                .filter(new Locator.FilterOptions().setHasText(text))
                .first()
                .click();
    }
}
