package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The documentation: every link leads somewhere, lines can be read and compared, and it stays short enough to be read. */
class DocsTest {

    static final Path TOP = Path.of("..").toAbsolutePath().normalize();

    private static final Path REFERENCE = TOP.resolve("docs/reference");

    private static final int WORDS_MAX = 60_000;
    private static final int LINE_MAX = 200;

    private static final Pattern LINK = Pattern.compile("!?\\[[^\\]]*]\\(([^)\\s]+)\\)");
    private static final Pattern ANCHOR = Pattern.compile("<a id=\"([^\"]+)\">");

    @Test
    void everyLinkLeadsToAPageAndAHeading() throws IOException {
        Map<Path, Set<String>> anchors = new HashMap<>();
        List<Path> pages = pages();
        for (Path page : pages) {
            anchors.put(page, anchors(page));
        }
        List<String> broken = new ArrayList<>();
        for (Path page : pages) {
            for (String link : links(page)) {
                String[] parts = link.split("#", 2);
                Path target = parts[0].isEmpty()
                        ? page
                        : page.resolveSibling(parts[0]).normalize();
                boolean known = parts.length < 2
                        || !target.toString().endsWith(".md")
                        || anchors.getOrDefault(target, Set.of()).contains(parts[1]);
                if (!Files.exists(target) || !known) {
                    broken.add(TOP.relativize(page) + ": " + link);
                }
            }
        }

        assertThat(broken).isEmpty();
    }

    @Test
    void theProgramCompletesItsPagesAndNoOther(@TempDir Path folder) throws IOException {
        Path completed = Documented.completed(folder.resolve("docs")).resolve("reference");

        for (Path page : pages()) {
            boolean marked = Files.readString(page).contains(ReferencePages.MARK);
            boolean changed = page.getParent().equals(REFERENCE)
                    && Files.mismatch(page, completed.resolve(page.getFileName())) >= 0;
            assertThat(marked).as(page.toString()).isEqualTo(changed);
        }
        assertThat(completed.resolve("cli.md")).content().contains("### dozo site add", "| `--host-key");
        assertThat(completed.resolve("configuration.md")).content().contains("| `DOZO_TRANSFER_LANES` |");
    }

    @Test
    void noLineIsTooLongToBeRead() throws IOException {
        List<String> tooLong = new ArrayList<>();
        for (Path page : pages()) {
            Files.readString(page)
                    .lines()
                    .filter(line -> line.length() > LINE_MAX)
                    .map(line -> TOP.relativize(page) + ": " + line)
                    .forEach(tooLong::add);
        }

        assertThat(tooLong).isEmpty();
    }

    @Test
    void itStaysShortEnoughToBeRead() throws IOException {
        long words = 0;
        for (Path page : pages()) {
            words += Pattern.compile("\\S*[\\p{L}\\p{N}]\\S*")
                    .matcher(Files.readString(page))
                    .results()
                    .count();
        }

        assertThat(words).isLessThanOrEqualTo(WORDS_MAX);
    }

    @Test
    void everyPromiseOfTheReadmeHasAPageAndTests() throws IOException {
        String promises =
                Files.readString(TOP.resolve("README.md")).replaceAll("(?s).*\n## Promises\n(.*?)\n## .*", "$1");
        List<String> rows =
                promises.lines().filter(line -> line.matches("\\| \\d.*")).toList();
        Set<String> tests = tests();

        assertThat(rows).hasSize(8).allSatisfy(row -> {
            assertThat(row).contains("](docs/");
            assertThat(Pattern.compile("`(\\w+)`")
                            .matcher(row.substring(row.lastIndexOf("| ", row.length() - 3)))
                            .results()
                            .map(found -> found.group(1)))
                    .isNotEmpty()
                    .isSubsetOf(tests);
        });
    }

    /** Returns the names of all classes of tests. */
    static Set<String> tests() throws IOException {
        Set<String> tests = new TreeSet<>();
        for (Path modules : List.of(TOP, TOP.resolve("batch-jobs"))) {
            try (DirectoryStream<Path> each = Files.newDirectoryStream(modules)) {
                for (Path module : each) {
                    add(module.resolve("src/test/java"), tests);
                }
            }
        }
        return tests;
    }

    private static void add(Path sources, Set<String> tests) throws IOException {
        if (Files.exists(sources)) {
            try (Stream<Path> files = Files.walk(sources)) {
                files.map(file -> file.getFileName().toString())
                        .filter(name -> name.endsWith(".java"))
                        .forEach(name -> tests.add(name.replace(".java", "")));
            }
        }
    }

    static List<Path> pages() throws IOException {
        try (Stream<Path> top = Files.list(TOP);
                Stream<Path> below = Files.walk(TOP.resolve("docs"))) {
            return Stream.concat(top, below)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        }
    }

    /** Returns a page with what the program adds. */
    private static String completed(Path page) throws IOException {
        String name = page.getFileName().toString();
        boolean adds = page.getParent().equals(REFERENCE) && ReferencePages.PARTS.containsKey(name);
        return adds
                ? Files.readString(page)
                        .replace(
                                ReferencePages.MARK,
                                ReferencePages.PARTS.get(name).get())
                : Files.readString(page);
    }

    /** Returns the lines outside of fences. */
    private static List<String> text(Path page) throws IOException {
        List<String> text = new ArrayList<>();
        boolean fenced = false;
        for (String line : completed(page).lines().toList()) {
            if (line.strip().startsWith("```")) {
                fenced = !fenced;
            } else if (!fenced) {
                text.add(line);
            }
        }
        return text;
    }

    private static List<String> links(Path page) throws IOException {
        return text(page).stream()
                .map(line -> line.replaceAll("`[^`]*`", ""))
                .flatMap(line -> LINK.matcher(line).results())
                .map(found -> found.group(1))
                .filter(link -> !link.matches("[a-z]+:.*"))
                .toList();
    }

    /** Returns the names of headings, as GitHub and MkDocs make them, and those that are given. */
    private static Set<String> anchors(Path page) throws IOException {
        Set<String> anchors = new TreeSet<>();
        for (String line : text(page)) {
            ANCHOR.matcher(line).results().map(found -> found.group(1)).forEach(anchors::add);
            if (line.matches("#+ .*")) {
                String heading = line.replaceFirst("#+ ", "").replaceAll("\\[([^\\]]*)]\\([^)]*\\)", "$1");
                anchors.add(heading.toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .strip()
                        .replace(' ', '-'));
            }
        }
        return anchors;
    }
}
