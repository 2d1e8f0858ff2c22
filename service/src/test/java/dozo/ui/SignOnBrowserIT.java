package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Page.ScreenshotOptions;
import com.microsoft.playwright.options.AriaRole;
import dozo.RunningService;
import dozo.db.TestDatabase;
import dozo.security.TestProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Single sign-on in a real browser: the button, the login through the provider, and the logout at both. */
class SignOnBrowserIT {

    private static final int NARROW = 320;

    @TempDir
    static Path folder;

    private static TestProvider provider;
    private static RunningService service;

    @BeforeAll
    static void start() throws Exception {
        provider = TestProvider.at(folder);
        provider.start();
        provider.sits("7", "tanaka", "operators");
        service = RunningService.start(
                folder.resolve("work"),
                TestDatabase.fresh(),
                Map.of(
                        "dozo.oidc.issuer",
                        provider.issuer(),
                        "dozo.oidc.client-id",
                        TestProvider.CLIENT,
                        "dozo.oidc.client-secret-file",
                        Files.writeString(folder.resolve("secret"), TestProvider.SECRET)
                                .toString(),
                        "dozo.oidc.label",
                        "Centre 大学",
                        "dozo.oidc.timeout",
                        "1m",
                        "dozo.oidc.roles",
                        "operators=OPERATOR"));
        provider.register(service.url());
    }

    @AfterAll
    static void stop() throws Exception {
        service.close();
        provider.close();
    }

    @InEachLanguage
    void theButtonLeadsThroughTheProviderAndTheLogoutEndsBothSessions(String language) throws Exception {
        try (BrowserContext context = Chromium.browser().newContext(new NewContextOptions().setLocale(language))) {
            Page page = context.newPage();
            page.navigate(service.url() + "/sites");
            shown(page, "login-provider", language);

            String button = word(language, "login.provider").replace("{0}", "Centre 大学");
            page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(button))
                    .click();
            assertThat(page).hasURL(Pattern.compile("http://127[.]0[.]0[.]1:.*/sites([?]continue)?"));
            assertThat(page.locator("body")).containsText("tanaka");

            page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(word(language, "logout")))
                    .click();
            assertThat(page).hasURL(service.url() + "/login?logout");
            assertThat(page.locator("[role=status]")).hasText(word(language, "login.out"));
            page.navigate(service.url() + "/sites");
            assertThat(page.locator("h1")).hasText(word(language, "login"));
        }
    }

    @InEachLanguage
    void whoIsNotAdmittedIsToldWhy(String language) throws Exception {
        provider.sits("8", "admin", "operators");
        try (BrowserContext context = Chromium.browser().newContext(new NewContextOptions().setLocale(language))) {
            Page page = context.newPage();
            page.navigate(service.url() + "/oauth2/authorization/dozo");

            assertThat(page.locator("[role=alert]")).hasText(word(language, "login.taken"));
            shown(page, "login-taken", language);
        } finally {
            provider.sits("7", "tanaka", "operators");
        }
    }

    /** Asserts that the page is accessible and not too wide, also on a narrow screen; takes pictures for people. */
    private static void shown(Page page, String name, String language) {
        for (int width : new int[] {1280, NARROW}) {
            page.setViewportSize(width, 800);
            Axe.check(page, name + "-" + language, Axe.WCAG);
            org.assertj.core.api.Assertions.assertThat(page.evaluate(
                            "document.documentElement.scrollWidth - document.documentElement.clientWidth"))
                    .isEqualTo(0);
            if (Boolean.getBoolean("write.pages")) {
                page.screenshot(new ScreenshotOptions()
                        .setFullPage(true)
                        .setPath(Path.of("target", "pages", "%s-%d-%s.png".formatted(name, width, language))));
            }
        }
        page.setViewportSize(1280, 800);
    }

    private static String word(String language, String key) throws Exception {
        return Objects.requireNonNull(WordsTest.words(language).getProperty(key), key);
    }
}
