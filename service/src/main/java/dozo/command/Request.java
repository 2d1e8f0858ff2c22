package dozo.command;

import dozo.api.ShownRun;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A request of REST that a command sends, as it declares it by {@link dozo.api.http.Verb}.
 *
 * @param words the command's name
 * @param method in lower case
 * @param path with variables in braces
 * @param operation its description
 * @param verb the declaration
 * @param fields the description of its body's fields, by name
 */
record Request(
        List<String> words,
        List<Argument> arguments,
        String method,
        String path,
        JsonNode operation,
        JsonNode verb,
        JsonNode fields) {

    /** @param api the description of REST, which the operation refers to */
    static Request of(JsonNode api, String method, String path, JsonNode operation, JsonNode verb) {
        List<String> synopsis = List.of(verb.path("synopsis").stringValue().split(" ", -1));
        List<String> words = synopsis.stream()
                .takeWhile(word -> word.matches("[a-z][a-z-]*"))
                .toList();
        String body = operation
                .at("/requestBody/content/application~1json/schema/$ref")
                .asString("#");
        return new Request(
                words,
                synopsis.stream().skip(words.size()).map(Argument::of).toList(),
                method,
                path,
                operation,
                verb,
                api.at(body.substring(1)).path("properties"));
    }

    /** Returns what its declaration says of the command; empty: nothing. */
    String about() {
        return verb.path("about").asString("");
    }

    /** Returns what REST says of it, without the statuses. */
    String described() {
        return operation.path("description").asString("").replaceAll(" ?\\b\\d{3}: [^.]*[.]?", "");
    }

    /** Returns it with the columns of another list of the same command, if it names none: a command says them once. */
    Request withColumnsOf(Request first) {
        if (!method.equals("get") || !verb.path("columns").isEmpty()) {
            return this;
        }
        ObjectNode whole = ((ObjectNode) verb).deepCopy();
        whole.set("columns", first.verb.path("columns"));
        return new Request(words, arguments, method, path, operation, whole, fields);
    }

    Stream<String> examples() {
        return verb.path("examples").valueStream().map(JsonNode::stringValue);
    }

    private Optional<JsonNode> parameter(String name) {
        return operation
                .path("parameters")
                .valueStream()
                .filter(each -> each.path("name").stringValue().equals(name))
                .findFirst();
    }

    /** Returns the type of a parameter, or of a field of the body. */
    JsonNode schema(String name) {
        return parameter(name).map(each -> each.path("schema")).orElseGet(() -> fields.path(name));
    }

    /** Returns what an argument with this name and field is, as the command says it, or else REST. */
    String meaning(String argument, String name) {
        return verb.path("arguments")
                .valueStream()
                .map(said -> said.stringValue().split("=", 2))
                .filter(said -> said[0].equals(argument))
                .map(said -> said[1])
                .findFirst()
                .orElseGet(() -> parameter(name)
                        .orElseGet(() -> fields.path(name))
                        .path("description")
                        .asString(""));
    }

    /** Whether all that is given is for this one of several requests, and nothing that it needs is missing. */
    boolean fits(CommandSpec command, List<Request> all) {
        return arguments.stream().allMatch(each -> each.optional() || each.isGiven(command))
                && all.stream()
                        .flatMap(other -> other.arguments.stream())
                        .allMatch(each -> arguments.stream().anyMatch(each::hasNameOf) || !each.isTyped(command));
    }

    /** Sends it with what is given, and prints the response. */
    int send(Connection service) throws InterruptedException {
        Map<String, Object> given = new LinkedHashMap<>();
        CommandSpec command = service.commandLine().getCommandSpec();
        arguments.forEach(each -> each.addTo(given, command, this));
        String address = path;
        Query query = new Query("");
        Map<String, Object> body = new LinkedHashMap<>();
        for (Map.Entry<String, Object> each : given.entrySet()) {
            String value = each.getValue().toString();
            switch (parameter(each.getKey())
                    .map(known -> known.path("in").stringValue())
                    .orElse("body")) {
                case "path" -> address = address.replace("{" + each.getKey() + "}", Connection.encoded(value));
                case "query" -> query.with(each.getKey(), value);
                default -> body.put(each.getKey(), each.getValue());
            }
        }
        if (address.startsWith("/api/v1/runs/{id}")) {
            address = address.replace("{id}", "" + ChosenRun.goingOn(service));
        }
        return verb.path("columns").isEmpty()
                        || !verb.path("items").asString("").isEmpty()
                ? one(service, address + query, body, given)
                : list(service, address + query);
    }

    private int one(Connection service, String address, Map<String, Object> body, Map<String, Object> given)
            throws InterruptedException {
        boolean bare = method.equals("get") || method.equals("delete");
        Answer<JsonNode> answer = service.send(method, address, bare ? null : body);
        ObjectNode known = Connection.JSON.valueToTree(given);
        if (answer.sent() instanceof ObjectNode response) {
            known.setAll(response);
        }
        Optional<String> says =
                phrases("says").flatMap(phrase -> phrase.of(known).stream()).findFirst();
        if (verb.path("follows").asBoolean(false)) {
            Answer<ShownRun> run = Answer.of(answer.sent(), Connection.JSON.constructType(ShownRun.class));
            boolean wait = Boolean.TRUE.equals(
                    service.commandLine().getCommandSpec().findOption("--wait").<Boolean>getValue());
            return Dozo.startedOrFollowed(service, run, wait, says.orElse(""));
        }
        Consumer<PrintWriter> said = out -> {
            says.ifPresent(out::println);
            phrases("lines").flatMap(phrase -> phrase.of(known).stream()).forEach(out::println);
            List<JsonNode> items =
                    known.path(verb.path("items").asString("")).valueStream().toList();
            if (!items.isEmpty()) {
                table(items).print(out);
            }
        };
        if (verb.path("result").asBoolean(false) || !service.quiet() || service.json()) {
            service.print(answer, said);
        }
        return Exit.WELL;
    }

    private Stream<Phrase> phrases(String name) {
        return verb.path(name).valueStream().map(JsonNode::stringValue).map(Phrase::new);
    }

    private int list(Connection service, String address) {
        Answer<List<JsonNode>> items = parameter("after").isPresent()
                ? service.all(address, JsonNode.class)
                : Answer.of(service.send(method, address, null).items(), JsonNode.class);
        service.print(items, out -> {
            if (items.value().isEmpty()) {
                out.println(verb.path("none").stringValue());
            } else {
                table(items.value()).print(out);
            }
        });
        return Exit.WELL;
    }

    private Table table(List<JsonNode> items) {
        List<String[]> columns = verb.path("columns")
                .valueStream()
                .map(column -> column.stringValue().split("=", 2))
                .toList();
        Table table = new Table(columns.stream().map(column -> column[0]).toArray(String[]::new));
        items.forEach(item -> table.row(columns.stream()
                .map(column -> new Phrase(column[1]).of(item).orElse("-"))
                .toArray()));
        return table;
    }
}
