package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.Media;
import dozo.RunningService;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pictures over time: they are drawn from the table of the page, which is all there is without a script. */
class ChartsBrowserIT {

    private RunningService service;
    private BrowserContext context;
    private final List<String> complaints = new ArrayList<>();

    @BeforeEach
    void start() {
        service = RunningService.shared();
        service.saveUnreachable("dr");
        service.createProject("P1");
        service.jdbc().sql("""
                        insert into run (run_id, kind, site_id, state, requested_by, started_at, ended_at)
                        overriding system value
                        select -n, 'nightlyBackup', site_id, 'COMPLETE', 'schedule', now() - make_interval(days => n),
                               now() - make_interval(days => n, hours => -1)
                        from site, generate_series(1, 9) n;
                        insert into run_total (run_id, project_id, bytes, entries)
                        select run_id, project_id, -run_id * 1e9, 100 from run, project;
                        insert into site_space (site_id, day, seen_at, total_bytes, free_bytes)
                        select site_id, current_date - n, now() - make_interval(days => n), 100e9, (50 + n) * 1e9
                        from site, generate_series(0, 20) n
                        """).update();
    }

    @AfterEach
    void stop() {
        service.close();
        context.close();
    }

    @Test
    void thePictureSaysWhatTheTableSays() {
        Page page = open("/runs", new NewContextOptions().setLocale("en"));

        assertThat(page.locator(".plots canvas")).hasCount(3);
        assertThat(page.locator("#provens")).isHidden();
        Locator legend = page.locator(".plots .u-legend").first();
        assertThat(legend).containsText("1.0 GB");
        Locator drawn = page.locator(".plots .u-over").first();
        drawn.hover();
        int middle = (Integer) page.evaluate("""
                () => [...document.querySelectorAll("#provens tbody tr")].findIndex(row =>
                    document.querySelector(".plots .u-legend").textContent.includes(row.cells[0].textContent))
                """);
        assertThat(middle).as("the row under the mouse").isBetween(2, 6);
        assertThat(legend).containsText("%d.0 GB".formatted(9 - middle));
        assertThat(page.locator(".plots .u-legend").nth(1)).containsText("100");

        drawn.click();
        assertThat(page).hasURL(Pattern.compile(".*/runs/-%d$".formatted(9 - middle)));
        assertThat(complaints).isEmpty();
    }

    @Test
    void theSameTableIsOpenWithoutAScript() {
        Page page = open("/runs", new NewContextOptions().setLocale("en").setJavaScriptEnabled(false));

        assertThat(page.locator("canvas")).hasCount(0);
        assertThat(page.locator("#provens")).isVisible();
        assertThat(page.locator("#provens tbody tr")).hasCount(9);
    }

    @Test
    void theTableStaysOpenIfTheLibraryDoesNotCome() {
        context = Chromium.browser().newContext(new NewContextOptions().setLocale("en"));
        context.route("**/uPlot.iife.min.js", route -> route.abort());
        Page page = logIn(context.newPage(), "/sites");

        assertThat(page.locator("canvas")).hasCount(0);
        assertThat(page.locator("#space-dr")).isVisible();
    }

    @Test
    void theRoomOfASiteIsDrawnWithItsForecastInEveryWidthAndColour() {
        Page page = open("/", new NewContextOptions().setLocale("en").setViewportSize(1280, 800));

        assertThat(page.locator(".first canvas")).hasCount(1);
        assertThat(page.locator(".first .u-legend")).containsText("50 GB");
        assertThat(page.locator("#space-dr tbody tr")).hasCount(22);
        String light = image(page);
        page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(ColorScheme.DARK));
        page.waitForCondition(() -> !image(page).equals(light));
        assertThat(page.locator(".first canvas")).hasCount(1);
        assertThat(page.locator(".first .u-marker").nth(1)).hasCSS("border-color", "rgb(141, 189, 228)");
        Axe.check(page, "dark", Axe.WCAG);
        page.setViewportSize(400, 800);
        page.waitForCondition(() -> Boolean.TRUE.equals(page.evaluate("""
                () => document.querySelector(".uplot").offsetWidth <= document.querySelector(".plots").offsetWidth
                    && document.documentElement.scrollWidth <= 400
                """)));
        Axe.check(page, "narrow", Axe.WCAG);
        page.emulateMedia(new Page.EmulateMediaOptions().setMedia(Media.PRINT).setColorScheme(ColorScheme.DARK));
        assertThat(page.locator(".first canvas")).isVisible();
        assertThat(complaints).isEmpty();
    }

    @Test
    void timesAreThoseOfThePageAndWordsThoseOfItsLanguage() {
        Page page = open("/sites", new NewContextOptions().setLocale("ja").setTimezoneId("Asia/Tokyo"));

        assertThat(page.locator("html")).hasAttribute("data-zone", "America/St_Johns");
        assertThat(page.locator(".plots .u-legend").first()).containsText("使用量");
        Object labels = page.evaluate("""
                () => {
                    const told = [];
                    const plain = CanvasRenderingContext2D.prototype.fillText;
                    CanvasRenderingContext2D.prototype.fillText = function (text) { told.push(text); plain.apply(this, arguments); };
                    drawCharts();
                    return new Promise(done => setTimeout(() => done(told.join(" ")), 300));
                }
                """);
        assertThat(String.valueOf(labels)).contains("月", "GB");
        assertThat(complaints).isEmpty();
    }

    private static String image(Page page) {
        return String.valueOf(page.evaluate("() => document.querySelector('.first canvas').toDataURL()"));
    }

    private Page open(String path, NewContextOptions options) {
        context = Chromium.browser().newContext(options);
        return logIn(context.newPage(), path);
    }

    /** Collects errors too, as of the content security policy. */
    private Page logIn(Page page, String path) {
        page.onConsoleMessage(message -> {
            if (message.type().equals("error")) {
                complaints.add(message.text());
            }
        });
        page.onPageError(complaints::add);
        page.navigate(service.url() + path);
        page.locator("#username").fill("admin");
        page.locator("#password").fill(service.password());
        page.locator("form:has(#password) button").click();
        page.waitForURL(service.url() + path);
        return page;
    }
}
