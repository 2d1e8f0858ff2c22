package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.Page;
import dozo.Documented;
import dozo.PythonTools;
import dozo.RunningService;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The documentation as HTML: in the service under its policy, and as files, without anything from elsewhere. */
class DocumentationBrowserIT {

    private static final Path TOP = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    static Path folder;

    private static Path site;

    private final List<String> said = new ArrayList<>();
    private final List<String> asked = new ArrayList<>();

    @BeforeAll
    static void make() throws Exception {
        Path source = Documented.completed(folder.resolve("source"));
        site = folder.resolve("site");
        PythonTools tools = new PythonTools(
                TOP.resolve("target/docs-tools"),
                "-r",
                TOP.resolve("docs/requirements.txt").toString());
        PythonTools.execute(
                        TOP,
                        List.of(tools.program("mkdocs"), "build", "-q", "--strict", "-d", site.toString()),
                        Map.of("DOCS_SOURCE", source.toString(), "NO_MKDOCS_2_WARNING", "1"),
                        5)
                .expectWell();
    }

    @Test
    void theServiceShowsItToThoseWhoAreLoggedIn() throws Exception {
        try (RunningService service = RunningService.shared(Map.of("docs.folder", site.toString()))) {
            assertThat(service.look(HttpClient.newHttpClient(), "/docs/run/alarms.html", "en")
                            .status())
                    .as("without a login")
                    .isEqualTo(302);
            assertThat(service.look(service.browser(), "/docs/../application.properties", "en")
                            .status())
                    .isGreaterThanOrEqualTo(400);
            Page page = open("en");
            page.navigate(service.url() + "/administration");
            page.getByLabel("Name").fill("admin");
            page.getByLabel("Password").fill(service.password());
            page.getByText("Log in").last().click();

            page.getByText("Documentation").click();

            assertThat(page).hasURL(service.url() + "/docs/index.html");
            search(page, "host key");
            assertThat(asked)
                    .isNotEmpty()
                    .allMatch(url -> url.startsWith(service.url() + "/") || url.startsWith("data:"));
            assertThat(said).as("what the policy refuses is said here").isEmpty();
            page.context().close();

            assertThat(service.look(service.browser(), "/docs", "ja").text()).contains("Dozo のドキュメント");
        }
    }

    @Test
    void itCanBeReadAndSearchedAsFiles() {
        Page page = open("en");

        page.navigate(site.resolve("run/alarms.html").toUri().toString());

        search(page, "host key");
        assertThat(asked).isNotEmpty().allMatch(url -> url.startsWith("file:") || url.startsWith("data:"));
        page.context().close();
    }

    private Page open(String language) {
        Page page = Chromium.browser()
                .newContext(new NewContextOptions().setLocale(language))
                .newPage();
        page.onConsoleMessage(message -> {
            // NB: Chromium also remarks that it did not move the focus to a field.
            if (message.type().equals("error")) {
                said.add(message.text());
            }
        });
        page.onPageError(said::add);
        page.onRequest(request -> asked.add(request.url()));
        page.onResponse(response -> {
            if (response.status() >= 400) {
                said.add(response.url());
            }
        });
        return page;
    }

    private static void search(Page page, String words) {
        page.locator(".md-search__input").click();
        page.locator(".md-search__input").pressSequentially(words);
        assertThat(page.locator(".md-search-result__item").first()).isVisible();
        if (Boolean.getBoolean("write.pages")) {
            page.screenshot(new Page.ScreenshotOptions().setPath(Path.of("target/pages/documentation.png")));
        }
    }
}
