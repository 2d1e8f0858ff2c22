package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.ShownRun;
import dozo.api.http.Verb.Follow;
import dozo.restore.KeptRestore;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
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

    /** What is said of a response, line by line. */
    private static final List<String> OUTPUT = List.of("says", "lines", "each", "columns");

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
        return word("about");
    }

    /** Returns what REST says of it, without the statuses. */
    String described() {
        return operation.path("description").asString("").replaceAll(" ?\\b\\d{3}: [^.]*[.]?", "");
    }

    /** Returns it with the output of another request of the same command, if it has none: a command says it once. */
    Request withOutputOf(Request first) {
        if (OUTPUT.stream().anyMatch(name -> said(name).findAny().isPresent())) {
            return this;
        }
        ObjectNode whole = ((ObjectNode) verb).deepCopy();
        Stream.concat(OUTPUT.stream(), Stream.of("items", "total"))
                .filter(first.verb::has)
                .forEach(name -> whole.set(name, first.verb.path(name)));
        return new Request(words, arguments, method, path, operation, whole, fields);
    }

    /** Returns what help says below the options. */
    Stream<String> footer() {
        return said("footer");
    }

    Stream<String> examples() {
        return said("examples");
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
        return said("arguments")
                .map(said -> said.split("=", 2))
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

    /** Sends it with what is given, and prints the response. Returns the exit code. */
    int send(Connection service) throws InterruptedException {
        Map<String, Object> given = new LinkedHashMap<>();
        CommandSpec command = service.commandLine().getCommandSpec();
        arguments.forEach(each -> each.addTo(given, command, this));
        Optional<String> several = given.keySet().stream()
                .filter(name -> placeOf(name).equals("path") && given.get(name) instanceof List)
                .findFirst();
        if (several.isPresent()) {
            return inTurn(service, given, several.get());
        }
        return said("columns").findAny().isEmpty() || !word("items").isEmpty()
                ? one(service, given)
                : list(service, given);
    }

    /** Sends it for each value of a variable in turn, until the first refusal. */
    private int inTurn(Connection service, Map<String, Object> given, String variable) {
        ArrayNode all = Connection.JSON.createArrayNode();
        Map<String, Object> one = new LinkedHashMap<>(given);
        for (Object value : (List<?>) requireNonNull(given.get(variable))) {
            one.put(variable, value);
            JsonNode response = answer(service, one).sent();
            all.add(response);
            if (!service.json()) {
                Phrase.lines(known(one, response), said("says")).forEach(service.out()::println);
                service.out().flush();
            }
        }
        if (service.json()) {
            service.print(new Answer<>(all, all), "");
        }
        return Exit.WELL;
    }

    private Answer<JsonNode> answer(Connection service, Map<String, Object> given) {
        String address = address(service, given).toString();
        if (operation.at("/requestBody/content").has("text/csv")) {
            CommandSpec command = service.commandLine().getCommandSpec();
            OptionSpec named = command.findOption("--csv");
            ArgSpec file = named == null ? command.positionalParameters().getFirst() : named;
            return service.sendCsv(
                    method.toUpperCase(Locale.ROOT),
                    address,
                    Path.of(file.<String>getValue()),
                    command.findOption("--encoding").getValue(),
                    JsonNode.class);
        }
        Map<String, Object> body = new LinkedHashMap<>(given);
        body.keySet().removeIf(name -> !placeOf(name).equals("body"));
        return service.send(method, address, method.equals("get") || method.equals("delete") ? null : body);
    }

    /** Returns the address, of the run in progress if no run is given. */
    private Query address(Connection service, Map<String, Object> given) {
        String filled = path;
        for (Map.Entry<String, Object> each : given.entrySet()) {
            filled = filled.replace(
                    "{" + each.getKey() + "}",
                    Connection.encoded(each.getValue().toString()));
        }
        Query address = new Query(
                filled.startsWith("/api/v1/runs/{id}") ? filled.replace("{id}", "" + Dozo.goingOn(service)) : filled);
        given.forEach((name, value) -> address.with(name, placeOf(name).equals("query") ? value : null));
        return address;
    }

    private String placeOf(String name) {
        return parameter(name).map(known -> known.path("in").stringValue()).orElse("body");
    }

    private int one(Connection service, Map<String, Object> given) throws InterruptedException {
        Answer<JsonNode> answer = answer(service, given);
        ObjectNode known = known(given, answer.sent());
        Optional<String> says = Phrase.lines(known, said("says")).findFirst();
        boolean wait = isTyped(service, "--wait");
        switch (Follow.valueOf(verb.path("follows").asString(Follow.NOTHING.name()))) {
            case NOTHING -> {}
            case RUN -> {
                return Dozo.startedOrFollowed(service, Answer.of(answer, ShownRun.class), wait, says.orElse(""));
            }
            case DRILL -> {
                if (wait) {
                    Answer<KeptRestore> drill = Answer.of(answer, KeptRestore.class);
                    return RestoreReport.follow(
                            service, drill, path + "/" + drill.value().id());
                }
            }
            case MOVE -> {
                if (wait) {
                    return moved(service, answer);
                }
            }
            case STOP -> {
                if (wait) {
                    return Dozo.stopped(service, Answer.of(answer, ShownRun.class));
                }
            }
            case PAUSE -> {
                if (wait) {
                    answer = Dozo.paused(service, answer);
                    says = Phrase.lines(answer.sent(), said("says")).findFirst();
                }
            }
        }
        if (verb.path("result").asBoolean(false) || !service.quiet() || service.json()) {
            String first = says.orElse("");
            service.print(answer, out -> {
                if (!first.isEmpty()) {
                    out.println(first);
                }
                Phrase.lines(known, said("lines")).forEach(out::println);
                print(out, known.path(word("items")).valueStream().toList(), known);
            });
        }
        return exit(answer.sent());
    }

    /** Follows a move of sources to its end. */
    private int moved(Connection service, Answer<JsonNode> begun) throws InterruptedException {
        Function<JsonNode, String> line =
                move -> Phrase.lines(move, said("lines")).findFirst().orElse("");
        Answer<JsonNode> ended = Following.end(
                service,
                begun,
                path,
                JsonNode.class,
                move -> move.path("goesOn").booleanValue(),
                line,
                "the service goes on; to see it: dozo source moving; to stop it: dozo source stop");
        service.print(ended, line.apply(ended.sent()));
        return exit(ended.sent());
    }

    /** Returns the response's fields and those that were given; all that was given is in {@code given}, too. */
    private static ObjectNode known(Map<String, Object> given, JsonNode response) {
        ObjectNode known = Connection.JSON.valueToTree(given);
        known.set("given", known.deepCopy());
        if (response instanceof ObjectNode fields) {
            known.setAll(fields);
        }
        return known;
    }

    private static boolean isTyped(Connection service, String option) {
        OptionSpec known = service.commandLine().getCommandSpec().findOption(option);
        return known != null && Boolean.TRUE.equals(known.getValue());
    }

    /** Returns the exit code that the response stands for. If none of the phrases applies, nothing is known to be well. */
    private int exit(JsonNode response) {
        return word("exit").isEmpty()
                ? Exit.WELL
                : new Phrase(word("exit")).of(response).map(Integer::valueOf).orElse(Exit.NOT_SAFE);
    }

    private Stream<String> said(String name) {
        return verb.path(name).valueStream().map(JsonNode::stringValue);
    }

    private String word(String name) {
        return verb.path(name).asString("");
    }

    private int list(Connection service, Map<String, Object> given) {
        Query address = address(service, given);
        if (isTyped(service, "--csv")) {
            service.checkFormat(true);
            service.printCsv(address);
            return Exit.WELL;
        }
        Answer<List<JsonNode>> items = parameter("after").isPresent() && !given.containsKey("limit")
                ? service.all(address.toString(), JsonNode.class)
                : Answer.of(service.send(method, address.toString(), null).items(), JsonNode.class);
        List<JsonNode> all = items.value();
        List<Integer> codes =
                all.stream().map(this::exit).filter(code -> code != Exit.WELL).toList();
        if (service.json() && verb.path("lineByLine").asBoolean(false)) {
            items.printLines(service.out());
            service.out().flush();
        } else {
            service.print(items, out -> {
                if (all.isEmpty() && !word("none").isEmpty()) {
                    out.println(word("none"));
                } else {
                    print(out, all, Connection.JSON.createObjectNode().put("count", codes.size()));
                }
            });
        }
        return codes.stream().max(Comparator.naturalOrder()).orElse(Exit.WELL);
    }

    /** Prints those items that are shown, and what is said below them of all. */
    private void print(PrintWriter out, List<JsonNode> all, JsonNode whole) {
        List<JsonNode> items = all.stream()
                .filter(item -> word("which").isEmpty()
                        || new Phrase(word("which")).of(item).isPresent())
                .toList();
        items.forEach(item -> Phrase.lines(item, said("each")).forEach(out::println));
        if (!items.isEmpty() && said("columns").findAny().isPresent()) {
            table(items).print(out);
            out.print(word("total").isEmpty() ? "" : System.lineSeparator());
        }
        if (!word("total").isEmpty()) {
            Phrase.lines(whole, Stream.of(word("total"))).forEach(out::println);
        }
    }

    private Table table(List<JsonNode> items) {
        String[] columns = said("columns").toArray(String[]::new);
        // Sums come last.
        List<JsonNode> sums = word("sum").isEmpty()
                ? List.of()
                : items.stream().filter(item -> !item.hasNonNull(word("sum"))).toList();
        Table table = Table.of(items.subList(0, items.size() - sums.size()), columns);
        return sums.isEmpty() ? table : table.sum().rows(sums, columns);
    }
}
