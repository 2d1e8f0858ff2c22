package dozo;

import static java.util.stream.Collectors.joining;

import dozo.api.RestTables;
import dozo.command.Exit;
import dozo.metrics.Metric;
import dozo.people.Permissions;
import dozo.people.Permissions.Endpoint;
import dozo.people.Role;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.function.Supplier;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The parts of the reference that the program makes: the launcher has them written into a copy of the pages. */
final class ReferencePages {

    static final String ARGUMENT = "--write-reference";

    /** The line of a page in whose place such a part comes. */
    static final String MARK = "*`./dozo docs` writes this part.*\n";

    static final Map<String, Supplier<String>> PARTS = Map.of(
            "access.md", ReferencePages::access,
            "cli.md", CommandTables::made,
            "configuration.md", SettingsCommand::table,
            "metrics.md", Metric::table,
            "rest.md", () -> RestTables.requests(openApi()),
            "rest-fields.md", () -> RestTables.fields(openApi()));

    private ReferencePages() {}

    /**
     * Completes the pages in a folder.
     *
     * @return an exit code
     */
    static int in(Path folder) throws IOException {
        for (Entry<String, Supplier<String>> part : PARTS.entrySet()) {
            Path page = folder.resolve(part.getKey());
            Files.writeString(
                    page, Files.readString(page).replace(MARK, part.getValue().get()));
        }
        return Exit.WELL;
    }

    private static String access() {
        Stream<String> roles = Arrays.stream(Role.values()).map("`%s`"::formatted);
        Stream<String> headings = Stream.of(Stream.of("method and path"), roles, Stream.of("token"))
                .flatMap(each -> each);
        return row(headings)
                + "|---".repeat(Role.values().length + 2)
                + "|\n"
                + Permissions.endpoints().stream()
                        .filter(endpoint -> !endpoint.isForm())
                        .map(endpoint -> row(cells(endpoint)))
                        .collect(joining());
    }

    private static Stream<String> cells(Endpoint endpoint) {
        Permissions.Line line = Permissions.of(endpoint).orElseThrow();
        Stream<Enum<?>> words =
                Stream.concat(Arrays.stream(Role.values()).map(line.reaches()::get), Stream.of(line.token()));
        return Stream.concat(
                Stream.of("`%s %s`".formatted(endpoint.method(), endpoint.path())), words.map(ReferencePages::word));
    }

    private static String row(Stream<String> cells) {
        return cells.collect(joining(" | ", "| ", " |\n"));
    }

    private static String word(Enum<?> value) {
        return value.name().equals("NONE") ? "–" : value.name().toLowerCase(Locale.ROOT);
    }

    private static JsonNode openApi() {
        try (InputStream in = ReferencePages.class.getResourceAsStream("/openapi.json")) {
            return JsonMapper.shared().readTree(in);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
