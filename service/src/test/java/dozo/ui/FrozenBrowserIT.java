package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Page.ScreenshotOptions;
import com.microsoft.playwright.options.ColorScheme;
import dozo.RunningService;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.registry.RestorePlaces;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody finds an encrypted experiment in the morning, and gets it back without knowing anything: every page says what comes next. */
class FrozenBrowserIT {

    private static final int FILES = 30;

    @TempDir
    Path temporary;

    private RunningService service;
    private LoopbackSite site;
    private Path allowed;

    @BeforeEach
    void start() throws Exception {
        Path folder = temporary.toRealPath();
        service = RunningService.shared();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        service.register("dr", site.address()).expect(200);
        Path source = Files.createDirectory(folder.resolve("source"));
        allowed = Files.createDirectory(folder.resolve("restored"));
        for (int i = 0; i < FILES; i++) {
            byte[] image = new byte[5_000];
            System.arraycopy("DICM".getBytes(StandardCharsets.UTF_8), 0, image, 128, 4);
            Files.write(source.resolve("IM%02d.dcm".formatted(i)), image);
        }
        service.createExperiment("P1", "E1", source);
        service.bean(RestorePlaces.class).setRoots("P1", List.of(allowed), "test");
        service.backUp();
        for (int i = 0; i < FILES; i++) {
            byte[] noise = new byte[5_000];
            new Random(i).nextBytes(noise);
            Path file = source.resolve("IM%02d.dcm".formatted(i));
            Files.write(source.resolve("IM%02d.dcm.locked".formatted(i)), noise);
            Files.delete(file);
        }
        service.backUp();
    }

    @AfterEach
    void stop() {
        service.close();
        site.close();
    }

    @Test
    void fromTheOverviewToTheRestoredFilesWithoutAScript() throws Exception {
        Page page = open("en", false);
        page.getByText("Look at what changed.").click();
        assertThat(page.locator(".notice h2")).hasText("This looks like encryption.");
        assertThat(page.locator("tbody tr")).hasCount(2 * FILES);
        page.getByText("Restore it to another folder.").click();
        assertThat(page.locator("#folder")).hasValue(Pattern.compile(allowed + "/E1-20\\d\\d-\\d\\d-\\d\\d"));
        page.getByText("Restore", new Page.GetByTextOptions().setExact(true))
                .last()
                .click();

        assertThat(page.locator("h1")).containsText(Pattern.compile("Restore \\d+"));
        // A page of Playwright belongs to its thread.
        await().pollInSameThread().atMost(Duration.ofMinutes(2)).until(() -> {
            page.reload();
            return page.locator("#next").count() > 0;
        });
        assertThat(page.locator(".next")).containsText("dozo manifest --site dr --number 1 P1/E1 > list");
        check(page, "restored", "en");
        page.navigate(service.url() + "/experiments/P1/E1/restore");
        assertThat(page.locator("#folder")).hasValue(Pattern.compile(".*-2"));
        page.navigate(service.url() + "/experiments/P1/E1/frozen#release");
        page.getByText("Release it", new Page.GetByTextOptions().setExact(true)).click();
        assertThat(page.locator("h1")).hasText("P1/E1");
        assertThat(page.locator(".notice")).hasCount(0);
        page.context().close();
    }

    @Test
    void everyPageOfItIsForEverybody() throws Exception {
        Map<String, String> pages = Map.of(
                "overview", "/",
                "experiment", "/experiments/P1/E1",
                "frozen", "/experiments/P1/E1/frozen#release",
                "restore", "/experiments/P1/E1/restore",
                "report", "/report",
                "proof", "/experiments/P1/E1/proof?path=" + Bytes.of(FilePath.of("IM00.dcm")));
        for (String language : List.of("en", "ja")) {
            Page page = open(language, true);
            for (Map.Entry<String, String> each : pages.entrySet()) {
                page.navigate(service.url() + each.getValue());
                check(page, each.getKey(), language);
            }
            page.context().close();
        }
    }

    @Test
    void theDigestIsCopiedByAButtonThatIsThereOnlyWithAScript() throws Exception {
        String proof = service.url() + "/experiments/P1/E1/proof?path=" + Bytes.of(FilePath.of("IM00.dcm"));
        Page page = open("en", true);
        page.context().grantPermissions(List.of("clipboard-read", "clipboard-write"));
        page.navigate(proof);
        String digest = page.locator("#digest-1").textContent();
        page.getByLabel("Copy the digest").click();

        assertThat(page.getByText("Copied")).isVisible();
        Assertions.assertEquals(digest, page.evaluate("navigator.clipboard.readText()"));
        assertThat(page.locator("#places ~ .scroll")).containsText("P1/E1/data/IM00.dcm");
        page.context().close();
        Page plain = open("en", false);
        plain.navigate(proof);
        assertThat(plain.getByText("Copy", new Page.GetByTextOptions().setExact(true)))
                .isHidden();
        assertThat(plain.locator("#digest-1")).hasText(digest);
        plain.context().close();
    }

    private static void check(Page page, String name, String language) throws Exception {
        for (int width : new int[] {1_280, 400}) {
            for (ColorScheme scheme : new ColorScheme[] {ColorScheme.LIGHT, ColorScheme.DARK}) {
                page.setViewportSize(width, 800);
                page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(scheme));
                String what = "%s-%s-%d-%s".formatted(name, language, width, scheme);
                if (Boolean.getBoolean("write.pages")) {
                    page.screenshot(new ScreenshotOptions()
                            .setFullPage(true)
                            .setPath(Path.of("target/pages/h3-%s.png".formatted(what))));
                }
                if (!name.equals("restored")) {
                    Axe.check(page, what, Axe.WCAG);
                    Assertions.assertEquals(
                            0,
                            page.evaluate(
                                    "document.documentElement.scrollWidth - document.documentElement.clientWidth"),
                            what);
                }
            }
        }
        Assertions.assertFalse(page.content().contains("??"), name);
    }

    private Page open(String language, boolean script) {
        Page page = Chromium.browser()
                .newContext(new NewContextOptions().setJavaScriptEnabled(script).setLocale(language))
                .newPage();
        page.navigate(service.url() + "/?lang=" + language);
        page.locator("#username, input[name=username]").first().fill("admin");
        page.locator("input[type=password]").fill(service.password());
        page.locator("main button").first().click();
        page.navigate(service.url() + "/?lang=" + language);
        return page;
    }
}
