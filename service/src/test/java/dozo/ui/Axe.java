package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/** Checks pages with axe-core. */
final class Axe {

    /** WCAG 2.2 AA. */
    static final String WCAG = "runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']";

    /** What a colour scheme or a width may change. */
    static final String LOOKS =
            "runOnly: { type: 'rule', values: ['color-contrast', 'target-size', 'link-in-text-block'] }";

    /** Without colours, which take most of the time. */
    static final String WORDS = WCAG + ", rules: { 'color-contrast': { enabled: false } }";

    private static final String SCRIPT = script();

    private Axe() {}

    /** Asserts that there is no violation of these rules. */
    static void check(Page page, String what, String rules) {
        if (!Boolean.TRUE.equals(page.evaluate("!!window.axe"))) {
            page.evaluate(SCRIPT);
        }
        Object violations = page.evaluate("""
                async () => {
                    const found = await axe.run({ %s, resultTypes: ["violations"] });
                    return found.violations.map(each => each.id + ": " + each.nodes.map(node => node.html).join(" "));
                }
                """.formatted(rules));
        assertThat((List<?>) Objects.requireNonNull(violations)).as(what).isEmpty();
    }

    private static String script() {
        try (InputStream script = Axe.class.getResourceAsStream("/axe.min.js")) {
            return new String(Objects.requireNonNull(script).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
