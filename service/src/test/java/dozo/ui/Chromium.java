package dozo.ui;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType.LaunchOptions;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import dozo.db.Starts;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The browser of this process, started by the first test that needs it. It belongs to that test's thread, which all
 * tests share. Each test opens its own context and closes it.
 */
final class Chromium {

    /** Names of the browser in different distributions. */
    private static final List<String> NAMES =
            List.of("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome");

    private static final class Holder {
        private static final Browser BROWSER = start();
    }

    private Chromium() {}

    static Browser browser() {
        return Holder.BROWSER;
    }

    private static Browser start() {
        Starts.SERVER.count();
        // A browser is already installed, so none is downloaded.
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.put("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        // A busy machine needs longer than the 5 s that are usual.
        PlaywrightAssertions.setDefaultAssertionTimeout(60_000);
        Playwright playwright = Playwright.create(new Playwright.CreateOptions().setEnv(environment));
        Browser browser = playwright
                .chromium()
                .launch(new LaunchOptions().setExecutablePath(program()).setArgs(List.of("--no-sandbox")));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            browser.close();
            playwright.close();
        }));
        return browser;
    }

    private static Path program() {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator, -1))
                .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new AssertionError("no Chromium on the PATH: ./dozo test installs it"));
    }
}
