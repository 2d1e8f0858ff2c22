import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType.LaunchOptions;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.Response;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Loads pages in Chromium as a logged-in user with an empty cache, and reports what was transferred and when something
 * was visible.
 *
 * <pre>java -cp PLAYWRIGHT PageLoads.java ADDRESS CHROMIUM ROUNDS</pre>
 *
 * A line of standard input is {@code user NAME PASSWORD}, {@code file NAME PATH} (a CSV file that this user has
 * previewed), or {@code page NAME PATH}, separated by tabs. Each load is answered by a line of JSON. Every round loads
 * every page once.
 */
final class PageLoads {

    private static final double LIMIT_MS = 60_000;

    /** Smaller files need no compression: it would enlarge them. */
    private static final int PLAIN_BYTES_MAX = 2_048;

    /** Sizes are those transferred over the network; the browser counts 300 bytes for each response header. */
    private static final String LOADED = """
            async plainMax => {
                const painted = await new Promise(seen => new PerformanceObserver(
                        list => list.getEntriesByName("first-contentful-paint").forEach(seen))
                    .observe({ type: "paint", buffered: true }));
                const [page] = performance.getEntriesByType("navigation");
                const all = [page, ...performance.getEntriesByType("resource")];
                const plain = all.filter(each => each.decodedBodySize > plainMax && each.encodedBodySize >= each.decodedBodySize);
                return JSON.stringify({
                    bytes: all.reduce((sum, each) => sum + each.transferSize, 0),
                    htmlBytes: page.transferSize,
                    unpackedBytes: all.reduce((sum, each) => sum + each.decodedBodySize, 0),
                    requests: all.length,
                    answered: page.responseEnd,
                    painted: painted.startTime,
                    plain: plain.map(each => new URL(each.name).pathname),
                });
            }
            """;

    private final String address;
    private final Browser browser;

    /** Login cookies by user name. */
    private final Map<String, String> logins = new HashMap<>();

    private record Wanted(String user, String path) {}

    private PageLoads(String address, Browser browser) {
        this.address = address;
        this.browser = browser;
    }

    public static void main(String[] arguments) throws Exception {
        // Uses the installed browser and downloads none.
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.put("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        try (Playwright playwright = Playwright.create(new Playwright.CreateOptions().setEnv(environment));
                Browser browser = playwright
                        .chromium()
                        .launch(new LaunchOptions()
                                .setExecutablePath(Path.of(arguments[1]))
                                .setArgs(List.of("--no-sandbox")))) {
            new PageLoads(arguments[0], browser).run(lines(), Integer.parseInt(arguments[2]));
        }
    }

    private static List<String[]> lines() throws Exception {
        try (var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            return input.lines().map(line -> line.split("\t", -1)).collect(Collectors.toList());
        }
    }

    private void run(List<String[]> lines, int rounds) {
        List<Wanted> wanted = new ArrayList<>();
        for (String[] line : lines) {
            switch (line[0]) {
                case "user" -> logIn(line[1], line[2]);
                case "file" -> judge(line[1], Path.of(line[2]));
                case "page" -> wanted.add(new Wanted(line[1], line[2]));
                default -> throw new IllegalArgumentException(line[0]);
            }
        }
        for (int round = 0; round < rounds; round++) {
            for (Wanted each : wanted) {
                load(each, round);
            }
        }
    }

    private void logIn(String name, String password) {
        try (BrowserContext context = browser.newContext()) {
            Page page = context.newPage();
            page.navigate(address + "/login");
            page.locator("#username").fill(name);
            page.locator("#password").fill(password);
            page.locator("form:has(#password) button").click();
            page.waitForURL(address + "/");
            logins.put(name, context.storageState());
        }
    }

    /** Uploads the file for preview; the login session then holds it. */
    private void judge(String name, Path file) {
        try (BrowserContext context = context(name)) {
            Page page = context.newPage();
            page.navigate(address + "/register/csv");
            page.locator("#file").setInputFiles(file);
            page.locator("form:has(#file) button").click();
            page.waitForURL(address + "/register/csv/preview", new Page.WaitForURLOptions().setTimeout(LIMIT_MS));
        }
    }

    private void load(Wanted wanted, int round) {
        try (BrowserContext context = context(wanted.user)) {
            Page page = context.newPage();
            Response answer = page.navigate(address + wanted.path);
            String loaded = String.valueOf(page.evaluate(LOADED, PLAIN_BYTES_MAX));
            System.out.printf(
                    "{\"user\": \"%s\", \"path\": \"%s\", \"round\": %d, \"status\": %d, \"loaded\": %s}%n",
                    wanted.user, wanted.path, round, answer == null ? 0 : answer.status(), loaded);
        }
    }

    /** Opens a browser context with an empty cache. */
    private BrowserContext context(String user) {
        BrowserContext context = browser.newContext(new NewContextOptions()
                .setLocale("en")
                .setViewportSize(1280, 800)
                .setStorageState(logins.get(user)));
        context.setDefaultTimeout(LIMIT_MS);
        return context;
    }
}
