package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every link of a template is made by {@code @{…}} or {@code here}, which know the path below which a proxy shows the service. */
class LinksTest {

    private static final Path TEMPLATES = Path.of("../ui/src/main/resources/templates");

    /** An attribute with a path as it stands, or with an expression that begins with a path. */
    private static final Pattern BARE = Pattern.compile(
            "(?<![A-Za-z-])(th:)?(href|src|action|formaction|hx-get|hx-post|data-page|data-events)=(\"?/|\"?\\$\\{'/|\\$\\{[^}]*\\? *'/)[^ ]*");

    @Test
    void noTemplateHasABarePath() throws IOException {
        try (Stream<Path> all = Files.list(TEMPLATES)) {
            List<Path> templates = all.toList();
            assertThat(templates).hasSizeGreaterThan(40);
            assertThat(templates)
                    .allSatisfy(each -> assertThat(bare(Files.readString(each))).isEmpty());
        }
    }

    @Test
    void barePathsAreFound() {
        assertThat(
                        bare(
                                "<a href=\"/x\"> <form th:action=\"${'/a/' + b}\"> <p th:attr=\"hx-get=${c ? '/d' : null},x=1\">"))
                .hasSize(3);
        assertThat(bare("<a th:href=\"@{/x}\"> <form th:action=\"${here.to('/a')}\"> <a href=\"#main\">"))
                .isEmpty();
    }

    private static List<String> bare(String template) {
        return BARE.matcher(template).results().map(MatchResult::group).toList();
    }
}
