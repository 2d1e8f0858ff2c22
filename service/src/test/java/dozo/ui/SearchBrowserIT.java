package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import dozo.RunningService;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The search field of every page: by keyboard, with suggestions; and without a script. */
class SearchBrowserIT {

    @TempDir
    Path folder;

    private RunningService service;

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared();
        for (String code : new String[] {"E1", "E2"}) {
            service.createExperiment("P1", code, folder.resolve(code));
        }
    }

    @AfterEach
    void stop() {
        service.close();
    }

    @Test
    void theKeyLeadsToTheFieldAndArrowsToTheSuggestions() {
        Page page = page(true);
        Locator field = page.locator("#search");
        Locator links = page.locator("#suggestions a");

        page.keyboard().press("/");
        assertThat(field).isFocused();
        page.keyboard().type("p1/e");
        assertThat(links).hasCount(2);
        assertThat(page.locator("#search-said")).hasText("2 suggestions");
        Axe.check(page, "suggestions", Axe.WCAG);
        page.setViewportSize(400, 800);
        Axe.check(page, "suggestions at 400 px", Axe.LOOKS);
        page.keyboard().type("/");
        assertThat(field).hasValue("p1/e/");
        assertThat(page.locator("#search-said")).hasText("No suggestions");
        assertThat(page.locator("#suggestions li")).hasText("Nothing was found.");
        page.keyboard().press("Backspace");
        assertThat(links).hasCount(2);

        page.keyboard().press("ArrowDown");
        assertThat(links.nth(0)).isFocused();
        page.keyboard().press("ArrowUp");
        assertThat(field).isFocused();
        page.keyboard().press("Escape");
        assertThat(links).hasCount(0);

        page.keyboard().type("2");
        assertThat(links).hasCount(1);
        page.keyboard().press("ArrowDown");
        page.keyboard().press("Enter");
        assertThat(page).hasURL(Pattern.compile(".*/experiments/P1/E2"));
        page.context().close();
    }

    @Test
    void withoutAScriptEnterShowsTheResults() {
        Page page = page(false);

        page.locator("#search").fill("p1");
        page.keyboard().press("Enter");

        assertThat(page.locator("h1")).hasText("Search: p1");
        assertThat(page.locator("#search")).hasValue("p1");
        assertThat(page.locator("#found-experiment + ul > li")).hasCount(2);
        page.locator("article").getByText("P1/E1").click();
        assertThat(page).hasURL(Pattern.compile(".*/experiments/P1/E1"));
        page.context().close();
    }

    private Page page(boolean script) {
        Page page = Chromium.browser()
                .newContext(new NewContextOptions().setJavaScriptEnabled(script).setLocale("en"))
                .newPage();
        page.navigate(service.url() + "/");
        page.getByLabel("Name").fill("admin");
        page.getByLabel("Password").fill(service.password());
        page.locator("article button").first().click();
        // Until the scripts of the page have loaded, its keys are lost.
        page.waitForURL(service.url() + "/");
        return page;
    }
}
