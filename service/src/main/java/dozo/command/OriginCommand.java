package dozo.command;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Systems that experiments are collected from. */
@Command(
        name = "origin",
        mixinStandardHelpOptions = true,
        description =
                "Systems that experiments are collected from: save, list, arrivals, accept, dismiss, takeback, report.")
final class OriginCommand {

    private static final String ORIGINS = "/api/v1/origins";
    private static final String ARRIVALS = "/api/v1/arrivals";

    @Spec
    private @Nullable CommandSpec spec;

    @Command(
            name = "save",
            mixinStandardHelpOptions = true,
            description = "Registers an origin, or changes the one of this name: in whole.")
    int save(
            @Mixin Connection service,
            @Parameters(paramLabel = "NAME", description = "What it is called here.") String name,
            @Option(names = "--kind", required = true, description = "flywheel, dicomweb or tree.") String kind,
            @Option(names = "--address", description = "As https://flywheel.example.org.") @Nullable String address,
            @Option(
                            names = "--secret-file",
                            paramLabel = "FILE",
                            description = "Where the key lies on the service's machine.")
                    @Nullable
                    String secretFile,
            @Option(
                            names = "--spool",
                            paramLabel = "FOLDER",
                            description = "Into which items are brought, on the service's machine.")
                    @Nullable
                    String spool,
            @Option(
                            names = "--root",
                            paramLabel = "FOLDER",
                            description = "Of a tree: below it experiments lie, on the service's machine.")
                    @Nullable
                    String root,
            @Option(
                            names = "--pattern",
                            paramLabel = "PATTERN",
                            description =
                                    "Of a tree: which folders are experiments, as '{project}/{date}_{label}'; repeatable.")
                    @Nullable
                    List<String> patterns,
            @Option(
                            names = "--ready",
                            paramLabel = "RULE",
                            description = "Of a tree: by what all of one is there, as 'marker .done'; repeatable.")
                    @Nullable
                    List<String> ready,
            @Option(names = "--project", paramLabel = "P", description = "Where all goes that --map says nothing of.")
                    @Nullable
                    String project,
            @Option(
                            names = "--map",
                            paramLabel = "THEIRS=P",
                            description = "What is in the origin's project of this id goes to P; repeatable.")
                    @Nullable
                    Map<String, String> projects,
            @Option(
                            names = "--storage-host",
                            paramLabel = "HOST",
                            description = "It may send downloads on to; repeatable.")
                    @Nullable
                    List<String> storageHosts,
            @Option(names = "--automatic", description = "Where the project is known, nobody is asked.")
                    boolean automatic,
            @Option(names = "--inactive", description = "Nights do not look at it.") boolean inactive) {
        Map<String, Object> body = new HashMap<>(Map.of("kind", kind, "automatic", automatic, "active", !inactive));
        put(body, "address", address);
        put(body, "spool", spool);
        put(body, "root", root);
        put(body, "patterns", patterns);
        put(body, "ready", ready);
        put(body, "secretFile", secretFile);
        put(body, "project", project);
        put(body, "projects", projects);
        put(body, "storageHosts", storageHosts);
        JsonNode saved = service.put(ORIGINS + "/" + Connection.encoded(name), body);
        Dozo.say(out(), service, saved, "the next night collects from %s".formatted(name));
        return Exit.WELL;
    }

    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists the origins.")
    int list(@Mixin Connection service) {
        Table table = new Table("NAME", "KIND", "ADDRESS", "PROJECT", "AUTOMATIC", "LOOKED AT");
        return listed(
                service,
                service.all(ORIGINS),
                table,
                "No origin yet; `dozo origin save` registers one.",
                origin -> table.row(
                        text(origin, "name"),
                        text(origin, "kind"),
                        text(origin, origin.hasNonNull("root") ? "root" : "address"),
                        text(origin, "project"),
                        origin.path("automatic").asBoolean() ? "yes" : "no",
                        text(origin, "lookedAt")));
    }

    @Command(
            name = "arrivals",
            mixinStandardHelpOptions = true,
            description = "Lists the proposals: what origins tell of and is no experiment yet.")
    int arrivals(
            @Mixin Connection service,
            @Option(names = "--all", description = "What became an experiment or was dismissed, too.") boolean all,
            @Option(names = "--dismissed", description = "In their place what was dismissed, and why.")
                    boolean dismissed,
            @Option(names = "--origin", paramLabel = "NAME", description = "Of this origin only.") @Nullable
                    String origin,
            @Option(names = "--project", paramLabel = "P", description = "For this project only.") @Nullable
                    String project) {
        List<String> query = new ArrayList<>();
        if (all && dismissed) {
            throw new Failure(Exit.USAGE, "either --all or --dismissed");
        }
        if (!all) {
            query.add(dismissed ? "dismissed=true" : "proposed=true");
        }
        if (origin != null) {
            query.add("origin=" + Connection.encoded(origin));
        }
        if (project != null) {
            query.add("project=" + Connection.encoded(project));
        }
        String address = query.isEmpty() ? ARRIVALS : ARRIVALS + "?" + String.join("&", query);
        Table table =
                new Table("ID", "ORIGIN", "STATE", "PROJECT", "ACQUIRED", "MODALITY", "FILES", "TITLE", "DISMISSED");
        return listed(
                service,
                service.all(address),
                table,
                all || dismissed ? "No such arrival." : "No proposals.",
                arrival -> table.row(
                        text(arrival, "id"),
                        text(arrival, "origin"),
                        text(arrival, "state"),
                        text(arrival, "project"),
                        text(arrival, "acquired"),
                        text(arrival, "modality"),
                        text(arrival, "filesTold"),
                        text(arrival, "title"),
                        arrival.hasNonNull("dismissedBy")
                                ? "%s: %s".formatted(text(arrival, "dismissedBy"), text(arrival, "dismissedReason"))
                                : "–"));
    }

    @Command(
            name = "accept",
            mixinStandardHelpOptions = true,
            description = "Makes experiments of proposals, as they are proposed. Their files come in the next night.")
    int accept(
            @Mixin Connection service,
            @Parameters(arity = "1..*", paramLabel = "ID", description = "Their numbers.") List<Long> ids) {
        JsonNode answer = service.post(ARRIVALS + "/accept", Map.of("ids", ids));
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(answer));
        } else {
            answer.path("arrivals")
                    .forEach(each -> out().println("%s: %s"
                            .formatted(
                                    text(each, "id"),
                                    each.hasNonNull("experiment")
                                            ? text(each, "experiment")
                                            : "refused: " + text(each, "refused"))));
        }
        out().flush();
        return answer.path("refused").asInt() == 0 ? Exit.WELL : Exit.REFUSED;
    }

    @Command(
            name = "dismiss",
            mixinStandardHelpOptions = true,
            description =
                    "Says that nobody wants proposals as experiments. Nights leave them alone; they are still counted.")
    int dismiss(
            @Mixin Connection service,
            @Parameters(arity = "1..*", paramLabel = "ID", description = "Their numbers.") List<Long> ids,
            @Option(
                            names = "--reason",
                            required = true,
                            paramLabel = "TEXT",
                            description = "Why; one line, without names of subjects.")
                    String reason) {
        return each(service, ids, "dismiss", Map.of("reason", reason), "dismissed");
    }

    @Command(
            name = "takeback",
            mixinStandardHelpOptions = true,
            description = "Makes proposals again of what was dismissed. The next night describes them.")
    int takeBack(
            @Mixin Connection service,
            @Parameters(arity = "1..*", paramLabel = "ID", description = "Their numbers.") List<Long> ids) {
        return each(service, ids, "takeback", Map.of(), "a proposal again");
    }

    /** One after the other, up to the first that is refused. */
    private int each(Connection service, List<Long> ids, String what, Map<String, ?> body, String word) {
        List<JsonNode> all = new ArrayList<>();
        for (long id : ids) {
            all.add(service.post("%s/%d/%s".formatted(ARRIVALS, id, what), body));
            if (!service.json()) {
                out().println("%d: %s".formatted(id, word));
                out().flush();
            }
        }
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(all));
            out().flush();
        }
        return Exit.WELL;
    }

    @Command(
            name = "report",
            mixinStandardHelpOptions = true,
            description = "Shows what origins told of in a run, and what of it is missing.",
            footer = {"", "Exit code 0: nothing is missing. 1: something is, or not all was looked at."})
    int report(
            @Mixin Connection service,
            @Parameters(paramLabel = "RUN", description = "The run's number.") long run,
            @Option(names = "--csv", description = "Print all lines as CSV.") boolean csv) {
        String address = "/api/v1/runs/" + run;
        JsonNode origins = service.get(address + "/origins").path("items");
        boolean empty = true;
        for (JsonNode origin : origins) {
            empty &= text(origin, "state").equals("empty");
        }
        if (csv) {
            service.printCsv(address + "/reconciliation?bom=false", out());
            return empty ? Exit.WELL : Exit.NOT_SAFE;
        }
        List<JsonNode> lines = service.all(address + "/reconciliation");
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(Map.of("origins", origins, "lines", lines)));
        } else {
            if (origins.isEmpty()) {
                out().println("Run %d collected from no origin.".formatted(run));
            }
            origins.forEach(origin -> out().println(words(origin)));
            lines.forEach(line -> out().println("  %-7s %-13s %s (%s): %s"
                    .formatted(
                            line.path("missing").asBoolean() ? "missing" : "remark",
                            text(line, "reason"),
                            text(line, "name"),
                            text(line, "id"),
                            text(line, "message"))));
        }
        out().flush();
        return empty ? Exit.WELL : Exit.NOT_SAFE;
    }

    private static String words(JsonNode origin) {
        return "%s: %s; %s items, %s changed, %s looked into, %s complete, %s gone, %s dismissed; %s of %s files are here, %s missing%s"
                .formatted(
                        text(origin, "origin"),
                        text(origin, "state"),
                        text(origin, "itemsTold"),
                        text(origin, "itemsChanged"),
                        text(origin, "itemsTried"),
                        text(origin, "itemsComplete"),
                        text(origin, "itemsGone"),
                        text(origin, "itemsDismissed"),
                        text(origin, "filesHere"),
                        text(origin, "filesTold"),
                        text(origin, "missing"),
                        text(origin, "message").equals("–") ? "" : "; " + text(origin, "message"));
    }

    private int listed(Connection service, List<JsonNode> all, Table table, String none, Consumer<JsonNode> row) {
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(all));
        } else if (all.isEmpty()) {
            out().println(none);
        } else {
            all.forEach(row);
            table.print(out());
        }
        out().flush();
        return Exit.WELL;
    }

    private static void put(Map<String, Object> body, String field, @Nullable Object value) {
        if (value != null) {
            body.put(field, value);
        }
    }

    private static String text(JsonNode node, String field) {
        String text = Connection.visible(node.path(field).asString(""));
        return text.isEmpty() ? "–" : text;
    }

    private PrintWriter out() {
        return Objects.requireNonNull(spec).commandLine().getOut();
    }
}
