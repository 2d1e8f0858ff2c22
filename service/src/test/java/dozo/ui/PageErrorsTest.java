package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dozo.Answer;
import dozo.RunningService;
import dozo.people.Role;
import dozo.start.CapturedLog;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Every refusal is a page in the reader's language. The log has stack traces only of defects. */
class PageErrorsTest {

    @TempDir
    static Path folder;

    @AutoClose
    private static RunningService service;

    private static HttpClient admin;
    private static HttpClient lab;

    private CapturedLog log;

    @BeforeAll
    static void start() {
        service = RunningService.shared();
        service.createUser("lab", Role.LAB_MANAGER);
        admin = service.browser();
        lab = service.browser("lab");
    }

    @BeforeEach
    void listen() {
        log = new CapturedLog();
    }

    @AfterEach
    void stopListening() {
        log.close();
    }

    @Test
    void whatARoleMayNotIsAPageThatSaysWhichMay() {
        Answer page = service.look(lab, "/sites", "ja");

        page.expect(403);
        assertPage(page, "ja", "権限がありません");
        assertThat(page.text()).contains("OPERATOR").contains("href=\"/runs\"").doesNotContain("href=\"/sites\"");
        assertThat(page.text()).contains("/sites?lang=en").doesNotContain("/error");
        assertPage(service.look(lab, "/sites", "en"), "en", "Not permitted");
        assertQuiet();
    }

    @Test
    void whatIsNotThereIsAPage() {
        for (String path :
                List.of("/experiments/P1/NEVER", "/runs/4711", "/nix", "/webjars/htmx.org/nix", "/nix.css")) {
            Answer page = service.look(admin, path, "ja");
            assertThat(page.status()).as(path).isEqualTo(404);
            assertPage(page, "ja", "見つかりません");
        }
        Answer foreign = service.look(lab, "/administration/projects/P9", "en");
        foreign.expect(404);
        assertPage(foreign, "en", "Not found");
        assertQuiet();
    }

    @Test
    void aFormThatIsNoneOfOursIsAPage() throws Exception {
        Answer page = send(admin, "POST", "/do/post/runs", "confirmed=true");

        page.expect(403);
        assertPage(page, "ja", "実行されませんでした");
        assertQuiet();
    }

    @Test
    void aMethodThatIsNotThereIsAPage() {
        Answer page = service.submit(admin, "/runs", "a=b");

        page.expect(405);
        assertThat(page.header("Allow")).contains("GET");
        assertPage(page, "en", "Invalid request");
        assertQuiet();
    }

    @Test
    void aDefectIsAPageAndInTheLog() {
        JdbcClient jdbc = service.jdbc();
        jdbc.sql("alter table site_capability rename to elsewhere").update();
        jdbc.sql("insert into site (name, host, port, login, root, host_key, identity_file, updated_at) "
                        + "values ('dr', 'h', 22, 'u', '/r', 'k', '/i', now())")
                .update();
        try {
            Answer page = service.look(admin, "/sites", "ja");
            page.expect(500);
            assertPage(page, "ja", "内部エラー");
            assertThat(page.text()).doesNotContain("site_capability").doesNotContain("Exception");
            assertThat(log.events())
                    .anySatisfy(event -> assertThat(event.getThrowableProxy()).isNotNull());
        } finally {
            jdbc.sql("alter table elsewhere rename to site_capability").update();
        }
    }

    @Test
    void whoAsksWhichMethodsThereAreIsToldSo() throws Exception {
        assertThat(send(admin, "OPTIONS", "/do/post/runs/1/pause", "")
                        .expect(200)
                        .header("Allow"))
                .contains("GET", "POST");

        assertThat(service.as("admin")
                        .ask("OPTIONS", "/api/v1/runs", null)
                        .expect(200)
                        .header("Allow"))
                .contains("GET", "POST");
        service.with(null).ask("OPTIONS", "/api/v1/runs", null).expect(401);
        assertQuiet();
    }

    private static void assertPage(Answer page, String language, String title) {
        assertThat(page.header("Content-Type")).startsWith("text/html");
        assertThat(page.text()).contains("<html lang=\"" + language + "\"").contains("<h1>" + title + "</h1>");
        assertThat(page.text()).contains("id=\"main\"").contains("href=\"/\"");
    }

    /** Asserts that expected refusals are not logged as errors. */
    private void assertQuiet() {
        assertThat(log.events())
                .noneSatisfy(event -> assertThat(event.getThrowableProxy()).isNotNull())
                .noneSatisfy(event -> assertThat(event.getLevel().isGreaterOrEqual(Level.WARN))
                        .isTrue());
    }

    private static Answer send(HttpClient browser, String method, String path, String form) throws Exception {
        return Answer.of(browser.send(
                HttpRequest.newBuilder(URI.create(service.url() + path))
                        .header("Accept", "text/html")
                        .header("Accept-Language", "ja")
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .method(method, BodyPublishers.ofString(form))
                        .build(),
                BodyHandlers.ofString()));
    }
}
