package dozo.command;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import tools.jackson.databind.JsonNode;

/** The commands that the requests of REST declare. They are read from REST's description, once in a process. */
final class Verbs {

    /** What the groups of commands are about, by name. */
    private final Map<String, JsonNode> groups = new LinkedHashMap<>();

    /** The requests that a command sends, by its words: one, or that which has the given arguments. */
    private final Map<List<String>, List<Request>> commands = new LinkedHashMap<>();

    private Verbs(JsonNode api) {
        api.path("x-commands").forEachEntry((name, about) -> groups.put(name, about));
        api.path("paths")
                .forEachEntry((path, methods) -> methods.forEachEntry((method, operation) -> operation
                        .path("x-commands")
                        .forEach(verb -> {
                            Request request = Request.of(api, method, path, operation, verb);
                            List<Request> same = commands.computeIfAbsent(request.words(), _ -> new ArrayList<>());
                            same.add(same.isEmpty() ? request : request.withOutputOf(same.getFirst()));
                        })));
    }

    /**
     * Adds them to a command line.
     *
     * @param isNeeded accepts the first words of commands that get their arguments; others get only a description
     */
    static void addTo(CommandLine dozo, Predicate<String> isNeeded) {
        Verbs verbs = Read.VERBS;
        verbs.groups.forEach((name, about) -> {
            CommandSpec group = CommandSpec.create();
            group.usageMessage()
                    .description("%s: %s."
                            .formatted(about.path("about").stringValue(), String.join(", ", verbs.names(name))));
            group.mixinStandardHelpOptions(isNeeded.test(name));
            dozo.getCommandSpec().addSubcommand(name, group);
        });
        // A command of one word may have others of two.
        verbs.commands.keySet().stream()
                .sorted(Comparator.comparingInt(List::size))
                .forEach(words -> {
                    List<Request> requests = requireNonNull(verbs.commands.get(words));
                    boolean needed = isNeeded.test(words.getFirst());
                    if (words.size() == 1) {
                        dozo.getCommandSpec()
                                .addSubcommand(words.getFirst(), needed ? command(requests) : outline(requests));
                    } else if (needed) {
                        requireNonNull(dozo.getSubcommands().get(words.getFirst()))
                                .getCommandSpec()
                                .addSubcommand(words.getLast(), command(requests));
                    }
                });
    }

    private List<String> names(String group) {
        return commands.keySet().stream()
                .filter(words -> words.size() == 2 && words.getFirst().equals(group))
                .map(List::getLast)
                .sorted()
                .toList();
    }

    private static CommandSpec outline(List<Request> requests) {
        CommandSpec outline = CommandSpec.create();
        outline.usageMessage().description(about(requests));
        return outline;
    }

    private static String about(List<Request> requests) {
        return requests.stream()
                .map(Request::about)
                .filter(about -> !about.isEmpty())
                .findFirst()
                .orElseGet(requests.getFirst()::described);
    }

    private static CommandSpec command(List<Request> requests) {
        Connection service = new Connection();
        Sending sending = new Sending(requests, service);
        CommandSpec command = CommandSpec.wrapWithoutInspection(sending).mixinStandardHelpOptions(true);
        command.usageMessage().description(about(requests));
        String[] footer = requests.stream().flatMap(Request::footer).toArray(String[]::new);
        if (footer.length > 0) {
            command.usageMessage()
                    .footer(Stream.concat(Stream.of(""), Stream.of(footer)).toArray(String[]::new));
        }
        command.addMixin("service", CommandSpec.forAnnotatedObject(service));
        service.isUsedBy(command);
        for (Request request : requests) {
            boolean always = requests.size() == 1;
            request.arguments().forEach(each -> each.addTo(command, always || isShared(each, requests), request));
        }
        return command;
    }

    private static boolean isShared(Argument argument, List<Request> requests) {
        return requests.stream()
                .allMatch(request -> request.arguments().stream().anyMatch(argument::hasNameOf));
    }

    /** Sends the request that has the given arguments. */
    private record Sending(List<Request> requests, Connection service) implements Callable<Integer> {

        @Override
        public Integer call() throws InterruptedException {
            CommandLine line = service.commandLine();
            return requests.stream()
                    .filter(request -> request.fits(line.getCommandSpec(), requests))
                    .findFirst()
                    .orElseThrow(() -> new ParameterException(line, expected()))
                    .send(service);
        }

        private String expected() {
            List<String> needs = requests.stream().map(this::needs).toList();
            String all = needs.stream().filter(each -> !each.isEmpty()).collect(Collectors.joining(", or "));
            return (needs.contains("") ? "expected at most one of these: " : "expected one of these: ") + all;
        }

        /** Returns the arguments that tell a request apart from the others. */
        private String needs(Request request) {
            return request.arguments().stream()
                    .filter(each -> !each.optional() && !isShared(each, requests))
                    .map(Argument::name)
                    .filter(name -> !name.isEmpty())
                    .collect(Collectors.joining(" and "));
        }
    }

    /** Returns the examples of all of them. */
    static Stream<String> examples() {
        return Read.VERBS.commands.values().stream().flatMap(List::stream).flatMap(Request::examples);
    }

    /** Returns the groups that a section of the help lists. */
    static List<String> listedIn(String section) {
        return Read.VERBS.groups.entrySet().stream()
                .filter(group -> group.getValue().path("section").stringValue().equals(section))
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Read when first needed: a command that is none of them does without. */
    private static final class Read {
        static final Verbs VERBS = new Verbs(description());
    }

    private static JsonNode description() {
        try (InputStream in = requireNonNull(Verbs.class.getResourceAsStream("/openapi.json"))) {
            return Connection.JSON.readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
