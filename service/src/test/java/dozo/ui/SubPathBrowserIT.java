package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import dozo.Answer;
import dozo.Ended;
import dozo.RunningService;
import dozo.security.MadeKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A service below a path of a real nginx with TLS: every page, file, form, redirect and command stays below that path. */
class SubPathBrowserIT {

    @TempDir
    static Path folder;

    private static Path store;

    private RunningService service;
    private Nginx nginx;

    @BeforeAll
    static void makeKey() throws Exception {
        store = MadeKeys.store(folder.resolve("store"), "EC", "ip:127.0.0.1", "-1H");
    }

    @BeforeEach
    void start() throws Exception {
        service = RunningService.shared(Map.of("dozo.http.tls-proxy", "127.0.0.1"));
        nginx = new Nginx(folder.resolve("nginx"), store, service.url());
    }

    @AfterEach
    void stop() throws Exception {
        nginx.close();
        service.close();
    }

    @AfterAll
    static void forget() {
        System.clearProperty("dozo.ca.file");
    }

    @Test
    void aWalkThroughThePagesStaysBelowThePath() throws Exception {
        service.saveUnreachable("dr");
        service.createExperiment("P1", "E1", folder.resolve("visit"));
        service.openRun();
        try (BrowserContext context = Chromium.browser()
                .newContext(new NewContextOptions().setIgnoreHTTPSErrors(true).setLocale("en"))) {
            ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
            context.onResponse(response -> note(response, wrong));
            Page page = context.newPage();
            page.navigate(nginx.url() + "/experiments");
            assertThat(page).hasURL(nginx.url() + "/login");
            page.getByLabel("Name").fill("admin");
            page.getByLabel("Password").fill(service.password());
            click(page, "Log in");
            assertThat(page.locator("h1")).hasText("Experiments");

            page.locator("#q").fill("E1");
            assertThat(page.locator("#results tbody tr")).hasCount(1);
            page.locator("#q").fill("nothing");
            assertThat(page.locator("#results tbody tr")).hasCount(0);
            for (String shown : List.of(
                    "/",
                    "/findings",
                    "/gaps",
                    "/runs",
                    "/runs/1",
                    "/audit",
                    "/audit/ledger",
                    "/sites",
                    "/sites/new",
                    "/origins/new",
                    "/administration",
                    "/administration/users/admin",
                    "/administration/projects/P1",
                    "/experiments/P1/E1",
                    "/register",
                    "/register/folders")) {
                page.navigate(nginx.url() + shown);
                assertThat(page.locator("h1").first()).isVisible();
                linksAreBelow(page);
            }

            page.navigate(nginx.url() + "/administration/projects/P1");
            page.locator("a[href*='/title']").click();
            page.getByLabel("Title").fill("Visual cortex");
            page.locator("article button.main").click();
            assertThat(page).hasURL(nginx.url() + "/administration/projects/P1");
            assertThat(page.locator(".lead")).hasText("Visual cortex");

            page.locator("a[hreflang=ja]").click();
            assertThat(page).hasURL(nginx.url() + "/administration/projects/P1");
            assertThat(page.locator("html")).hasAttribute("lang", "ja");
            page.navigate(nginx.url() + "/no-such-page");
            linksAreBelow(page);
            page.navigate(nginx.url() + "/");
            page.locator("form[action$='/logout'] button").click();
            assertThat(page).hasURL(nginx.url() + "/login?logout");
            assertThat(context.cookies())
                    .extracting(cookie -> cookie.name)
                    .allMatch(name -> name.startsWith("__Host-") || name.startsWith("dozo-"));
            assertThat(wrong).isEmpty();
        }
    }

    @Test
    void commandsAndRestWorkBelowThePath() throws Exception {
        System.setProperty(
                "dozo.ca.file",
                Files.writeString(folder.resolve("ca.pem"), MadeKeys.certificate(store))
                        .toString());
        System.setProperty("dozo.password.file", service.passwordFile().toString());
        try {
            for (String line : List.of("project list", "project add P7", "experiments")) {
                Ended.of((line + " --url " + nginx.url()).split(" ")).ends(0);
            }
        } finally {
            System.clearProperty("dozo.password.file");
        }
        service.get("/api/v1/projects/P7").expect(200);
    }

    /** The service's own client is the proxy here, because it has the proxy's address. */
    @Test
    void aPrefixIsAPathOrIgnored() {
        assertThat(location("/dozo")).isEqualTo("/dozo/login");
        assertThat(location("/a/b-c/")).isEqualTo("/a/b-c/login");
        for (String wrong :
                List.of("//evil.example", "/..", "/a//b", "evil", "/a?b", "/", "/\\evil", "/" + "a".repeat(65))) {
            assertThat(location(wrong)).as(wrong).isEqualTo("/login");
        }
        String body = "{\"code\": \"P8\"}";
        for (String key : List.of("k1", "k1")) {
            Answer made = service.askWith(
                    "POST", "/api/v1/projects", body, "Idempotency-Key", key, "X-Forwarded-Prefix", "/dozo");
            made.expect(201);
            assertThat(made.location()).as("also if the answer is sent again").isEqualTo("/dozo/api/v1/projects/P8");
        }
    }

    private String location(String prefix) {
        return String.valueOf(service.with(null)
                .ask(
                        "GET",
                        "/",
                        null,
                        "Accept",
                        "text/html",
                        "X-Forwarded-Proto",
                        "https",
                        "X-Forwarded-Prefix",
                        prefix)
                .location());
    }

    /** Notes what is not below the path, and what is not there. */
    private void note(Response response, ConcurrentLinkedQueue<String> wrong) {
        String url = response.url();
        boolean missing = response.status() >= 400 && !url.endsWith("/no-such-page");
        if (missing || !url.startsWith(nginx.url() + "/")) {
            wrong.add(response.status() + " " + url);
        }
    }

    private static void linksAreBelow(Page page) {
        Object outside = page.evaluate("""
                [...document.querySelectorAll('[href],[src],[action],[hx-get],[data-page],[data-events]')].flatMap(each =>
                    ['href', 'src', 'action', 'hx-get', 'data-page', 'data-events'].map(name => each.getAttribute(name))
                        .filter(link => link && link.startsWith('/') && !/^[/]dozo[/](?!dozo[/])/.test(link)))
                """);
        assertThat((List<?>) outside).as(page.url()).isEmpty();
    }

    private static void click(Page page, String text) {
        page.locator("button, a")
                .filter(new Locator.FilterOptions().setHasText(text))
                .first()
                .click();
    }
}
