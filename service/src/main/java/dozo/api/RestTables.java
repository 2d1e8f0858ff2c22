package dozo.api;

import static java.util.stream.Collectors.joining;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** The tables of {@code rest.md} and {@code rest-fields.md}, made from the OpenAPI document. */
public final class RestTables {

    private static final String PREFIX = "/api/v1";
    private static final List<String> METHODS = List.of("get", "post", "put", "patch", "delete");

    /** NB: each list has its own form of it. */
    private static final String AFTER = "after";

    /** Described once, above the tables. */
    private static final Set<String> COMMON = Set.of(AFTER, "limit", "format", "bom");

    private final JsonNode api;
    private final StringBuilder text = new StringBuilder();

    private record Row(String path, String method, JsonNode operation) {

        String name() {
            return method.toUpperCase(Locale.ROOT) + " " + path.substring(PREFIX.length());
        }
    }

    private record Named(String name, String form, String standard, String meaning) {}

    private RestTables(JsonNode api) {
        this.api = api;
    }

    /** Returns the requests, their parameters, and what the statuses of errors mean. */
    public static String requests(JsonNode api) {
        RestTables tables = new RestTables(api);
        tables.resources();
        tables.parameters();
        tables.errors();
        return tables.text.substring(1);
    }

    /** Returns the fields of all bodies. */
    public static String fields(JsonNode api) {
        RestTables tables = new RestTables(api);
        tables.fields();
        return tables.text.substring(1);
    }

    private void resources() {
        text.append("\n## Resources\n");
        Map<String, List<Row>> byTag = new TreeMap<>();
        rows().forEach(row -> byTag.merge(
                row.operation.at("/tags/0").asString(),
                List.of(row),
                (some, more) -> Stream.concat(some.stream(), more.stream()).toList()));
        byTag.forEach((tag, rows) -> {
            table("### " + tag, "request", "response", "does");
            rows.forEach(row -> line(request(row), response(row), does(row.operation)));
        });
    }

    private void parameters() {
        Map<Named, Set<String>> uses = new LinkedHashMap<>();
        Map<String, Integer> most = new TreeMap<>();
        rows().forEach(row -> row.operation
                .at("/parameters")
                .valueStream()
                .filter(parameter -> !parameter.at("/in").asString().equals("path"))
                .filter(parameter -> !parameter.at("/name").asString().equals(AFTER))
                .forEach(parameter -> {
                    Set<String> at = uses.computeIfAbsent(named(parameter), name -> new TreeSet<>());
                    at.add("`%s`".formatted(row.name()));
                    most.merge(parameter.at("/name").asString(), at.size(), Math::max);
                }));
        table("## Parameters", "parameter", "form", "default", "meaning");
        uses.entrySet().stream()
                .sorted(Comparator.<Entry<Named, Set<String>>, String>comparing(
                                use -> use.getKey().name, String.CASE_INSENSITIVE_ORDER)
                        .thenComparingInt(use -> -use.getValue().size()))
                .forEach(use -> {
                    Named named = use.getKey();
                    Set<String> at = use.getValue();
                    long same = uses.keySet().stream()
                            .filter(other -> other.name.equals(named.name))
                            .count();
                    boolean few = at.size() < most.getOrDefault(named.name, 0) || (at.size() == 1 && same > 1);
                    String only = few ? " of " + String.join(", ", at) : "";
                    line("`%s`%s".formatted(named.name, only), named.form, named.standard, named.meaning);
                });
    }

    private Named named(JsonNode parameter) {
        JsonNode schema = parameter.at("/schema");
        return new Named(
                parameter.at("/name").asString(),
                form(schema),
                parameter.at("/required").asBoolean(false)
                        ? "required"
                        : schema.at("/default").asString(""),
                meaning(parameter));
    }

    private void errors() {
        table("## Error statuses", "status", "when");
        api.at("/components/responses").properties().stream()
                .sorted(Entry.comparingByKey())
                .forEach(error -> line(error.getKey(), meaning(error.getValue())));
    }

    private void fields() {
        api.at("/components/schemas").properties().stream()
                .filter(schema -> !isPage(schema.getKey()) && !schema.getKey().equals("Problem"))
                .sorted(Entry.comparingByKey())
                .forEach(schema -> fields(schema.getKey(), schema.getValue()));
    }

    private void fields(String name, JsonNode schema) {
        String meaning = meaning(schema);
        table("## " + name + (meaning.isEmpty() ? "" : "\n\n" + meaning), "field", "form", "meaning");
        Set<String> required = new TreeSet<>();
        schema.at("/required").forEach(field -> required.add(field.asString()));
        schema.at("/properties")
                .properties()
                .forEach(field -> line(
                        "`%s`".formatted(field.getKey()),
                        form(field.getValue()) + (required.contains(field.getKey()) ? "" : ", optional"),
                        meaning(field.getValue())));
    }

    private String request(Row row) {
        String query = row.operation
                .at("/parameters")
                .valueStream()
                .filter(parameter -> parameter.at("/in").asString().equals("query"))
                .map(parameter -> parameter.at("/name").asString())
                .filter(name -> !COMMON.contains(name) || row.path.endsWith("/plan"))
                .map(name -> name + "=")
                .collect(joining("&"));
        String body = contents(row.operation.at("/requestBody"), type -> type);
        return "`%s%s`%s".formatted(row.name(), query.isEmpty() ? "" : "?" + query, body.isEmpty() ? "" : " " + body);
    }

    private String response(Row row) {
        Entry<String, JsonNode> success = row.operation.at("/responses").properties().stream()
                .filter(response -> response.getKey().startsWith("2"))
                .findFirst()
                .orElseThrow();
        String status = success.getKey().equals("200") ? "" : success.getKey();
        String shown = contents(success.getValue(), type -> type.equals("text/csv") ? "[CSV](#csv)" : type);
        String tagged = success.getValue().at("/headers/ETag").isMissingNode() ? "" : "[ETag](#editing)";
        return Stream.of(status, shown, tagged).filter(part -> !part.isEmpty()).collect(joining(" "));
    }

    private static String does(JsonNode operation) {
        boolean edits = operation
                .at("/parameters")
                .valueStream()
                .anyMatch(each -> each.at("/name").asString().equals("If-Match"));
        boolean byPassword = operation.at("/security").valueStream().noneMatch(each -> each.has("bearer"))
                && operation.has("security");
        return meaning(operation)
                + (edits ? " Supports [`If-Match`](#editing)." : "")
                + (byPassword ? " Not with a token." : "");
    }

    /** The bodies that a request or a response may have: the schema where it is JSON, else the type. */
    private String contents(JsonNode of, UnaryOperator<String> other) {
        return of.at("/content").properties().stream()
                .map(content -> content.getKey().equals("application/json")
                        ? schema(content.getValue().at("/schema"))
                        : other.apply(content.getKey()))
                .collect(joining(" or "));
    }

    private String schema(JsonNode schema) {
        String name = reference(schema);
        JsonNode item = isPage(name) ? api.at("/components/schemas").path(name).at("/properties/items/items") : schema;
        return isPage(name) ? "[page](#pages-of-a-list) of " + form(item) : form(item);
    }

    private boolean isPage(String name) {
        return name.startsWith("Page")
                && !api.at("/components/schemas")
                        .path(name)
                        .at("/properties/next")
                        .isMissingNode();
    }

    private static String reference(JsonNode schema) {
        return schema.at("/$ref").asString("").replace("#/components/schemas/", "");
    }

    private static String form(JsonNode schema) {
        String name = reference(schema);
        if (!name.isEmpty()) {
            return "[%s](rest-fields.md#%s)".formatted(name, name.toLowerCase(Locale.ROOT));
        }
        if (schema.has("enum")) {
            return schema.at("/enum")
                    .valueStream()
                    .map(value -> "`" + value.asString() + "`")
                    .collect(joining(", "));
        }
        String type = schema.at("/type").asString("object");
        if (type.equals("array")) {
            return "list of " + form(schema.at("/items"));
        }
        if (type.equals("object") && schema.has("additionalProperties")) {
            return "object with values of " + form(schema.at("/additionalProperties"));
        }
        return switch (schema.at("/format").asString("")) {
            case "byte" -> "base64";
            case "date" -> "day";
            case "date-time" -> "time";
            default -> type + range(schema);
        };
    }

    private static String range(JsonNode schema) {
        String min = schema.at("/minimum").asString("");
        String max = schema.at("/maximum").asString("");
        return min.isEmpty() ? "" : max.isEmpty() ? ", at least " + min : ", %s to %s".formatted(min, max);
    }

    /** NB: an operation has a summary, the first sentence of its description, even without one. */
    private static String meaning(JsonNode of) {
        return of.at("/description").asString(of.at("/summary").asString(""));
    }

    private List<Row> rows() {
        return api.at("/paths").properties().stream()
                .flatMap(path -> path.getValue().properties().stream()
                        .filter(operation -> METHODS.contains(operation.getKey()))
                        .map(operation -> new Row(path.getKey(), operation.getKey(), operation.getValue())))
                .sorted(Comparator.comparing(Row::path).thenComparingInt(row -> METHODS.indexOf(row.method)))
                .toList();
    }

    private void table(String title, String... headings) {
        text.append("\n%s\n\n".formatted(title));
        line(headings);
        text.append("|---".repeat(headings.length)).append("|\n");
    }

    private void line(String... cells) {
        text.append(Stream.of(cells).map(cell -> cell.replace("|", "\\|")).collect(joining(" | ", "| ", " |\n")));
    }
}
