package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.Page;
import dozo.Answer;
import dozo.RunningService;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The description of REST in a browser, from this service alone and under its strict policy. */
class DescriptionBrowserIT {

    private RunningService service;

    @BeforeEach
    void start() {
        service = RunningService.shared();
    }

    @AfterEach
    void stop() {
        service.close();
    }

    private Page open(boolean script) {
        Page page = Chromium.browser()
                .newContext(new NewContextOptions().setJavaScriptEnabled(script).setLocale("en"))
                .newPage();
        page.navigate(service.url() + "/administration");
        page.getByLabel("Name").fill("admin");
        page.getByLabel("Password").fill(service.password());
        page.getByText("Log in").last().click();
        return page;
    }

    @Test
    void requestsAreShownAndNothingCanBeSentOrComesFromElsewhere() {
        Page page = open(true);
        List<String> said = new ArrayList<>();
        List<String> asked = new ArrayList<>();
        page.onConsoleMessage(message -> said.add(message.text()));
        page.onPageError(said::add);
        page.onRequest(request -> asked.add(request.url()));

        page.getByText("REST API for programs").click();
        page.locator(".opblock-summary-get").first().click();

        assertThat(page.locator(".opblock-body").first()).isVisible();
        assertThat(page.locator(".try-out, .execute")).hasCount(0);
        assertThat(page.locator(".authorize:visible, .scheme-container:visible"))
                .hasCount(0);
        assertThat(said).as("what the policy refuses is said here").isEmpty();
        assertThat(asked).isNotEmpty().allMatch(url -> url.startsWith(service.url() + "/") || url.startsWith("data:"));
        if (Boolean.getBoolean("write.pages")) {
            page.screenshot(new Page.ScreenshotOptions().setPath(Path.of("target/pages/description.png")));
        }
        Axe.check(page, "all of it", Axe.WCAG);
        page.context().close();
    }

    @Test
    void withoutAScriptTheFileIsThere() {
        Page page = open(false);
        page.getByText("Documentation").click();
        assertThat(page).hasURL(service.url() + "/docs/api");
        assertThat(page.getByText("Download the description")).hasAttribute("href", "/docs/openapi.json");
        page.context().close();

        Answer file = service.look(service.browser(), "/docs/openapi.json", "en");
        file.expect(200);
        assertThat(file.text()).isEqualTo(service.get("/api/v1/openapi").text());
    }
}
