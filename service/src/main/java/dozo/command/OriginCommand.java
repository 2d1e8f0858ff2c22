package dozo.command;

import dozo.api.ArrivalApi.AcceptedArrivals;
import dozo.api.ArrivalApi.ShownArrival;
import dozo.collect.Reconciliations.Report;
import dozo.collect.Reconciliations.ReportLine;
import dozo.collect.Reconciliations.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The systems that experiments are collected from. */
@Command(
        name = "origin",
        mixinStandardHelpOptions = true,
        description =
                "Systems that experiments are collected from: accept, arrivals, dismiss, list, report, save, takeback.")
final class OriginCommand {

    private static final String ARRIVALS = "/api/v1/arrivals";

    @Command(
            name = "accept",
            mixinStandardHelpOptions = true,
            description = "Registers proposals as experiments, as proposed. Their files are collected the next night.",
            footer = {"", "Exit code 3: one of them was refused."})
    int accept(
            @Mixin Connection service,
            @Parameters(arity = "1..*", paramLabel = "ID", description = "Their numbers.") List<Long> ids) {
        Answer<AcceptedArrivals> answer =
                service.post(ARRIVALS + "/accept", Map.of("ids", ids), AcceptedArrivals.class);
        service.print(
                answer,
                out -> answer.value()
                        .arrivals()
                        .forEach(each -> out.println("%s: %s"
                                .formatted(
                                        each.id(),
                                        each.experiment() == null
                                                ? "refused: " + text(each.refused())
                                                : text(each.experiment())))));
        return answer.value().refused() == 0 ? Exit.WELL : Exit.REFUSED;
    }

    @Command(
            name = "dismiss",
            mixinStandardHelpOptions = true,
            description =
                    "Dismisses proposals: they are not wanted as experiments. Nights skip them; they are still counted.",
            footer = {"", "Exit code 3: one was refused; the command ends there."})
    int dismiss(
            @Mixin Connection service,
            @Parameters(arity = "1..*", paramLabel = "ID", description = "Their numbers.") List<Long> ids,
            @Option(
                            names = "--reason",
                            required = true,
                            paramLabel = "TEXT",
                            description = "The reason, in one line without names of subjects.")
                    String reason) {
        return each(service, ids, "dismiss", Map.of("reason", reason), "dismissed");
    }

    @Command(
            name = "takeback",
            mixinStandardHelpOptions = true,
            description = "Turns dismissed items back into proposals. The next night describes them.",
            footer = {"", "Exit code 3: one was refused; the command ends there."})
    int takeBack(
            @Mixin Connection service,
            @Parameters(arity = "1..*", paramLabel = "ID", description = "Their numbers.") List<Long> ids) {
        return each(service, ids, "takeback", Map.of(), "a proposal again");
    }

    /** Sends a request for each id in turn, until the first refusal. */
    private int each(Connection service, List<Long> ids, String what, Map<String, ?> body, String word) {
        List<JsonNode> all = new ArrayList<>();
        for (long id : ids) {
            all.add(service.post("%s/%d/%s".formatted(ARRIVALS, id, what), body, ShownArrival.class)
                    .sent());
            if (!service.json()) {
                service.out().println("%d: %s".formatted(id, word));
                service.out().flush();
            }
        }
        if (service.json()) {
            service.out().println(Connection.JSON.writeValueAsString(all));
            service.out().flush();
        }
        return Exit.WELL;
    }

    @Command(
            name = "report",
            mixinStandardHelpOptions = true,
            description = "Shows what origins listed in a run, and what of it is missing.",
            footer = {"", "Exit code 0: nothing is missing. 1: something is, or not everything was read."})
    int report(
            @Mixin Connection service,
            @Parameters(paramLabel = "RUN", description = "The run's number.") long run,
            @Option(names = "--csv", description = "Prints all lines as CSV.") boolean csv) {
        String address = "/api/v1/runs/" + run;
        Answer<List<Report>> origins = service.page(address + "/origins", Report.class);
        boolean empty =
                origins.value().stream().allMatch(origin -> origin.state() == State.EMPTY);
        if (csv) {
            service.printCsv(new Query(address + "/reconciliation"));
            return empty ? Exit.WELL : Exit.NOT_SAFE;
        }
        Answer<List<ReportLine>> lines = service.all(address + "/reconciliation", ReportLine.class);
        if (service.json()) {
            service.out()
                    .println(Connection.JSON.writeValueAsString(
                            Map.of("origins", origins.sent(), "lines", lines.sent())));
        } else {
            if (origins.value().isEmpty()) {
                service.out().println("Run %d collected from no origin.".formatted(run));
            }
            origins.value().forEach(origin -> service.out().println(words(origin)));
            lines.value()
                    .forEach(line -> service.out()
                            .println("  %-7s %-13s %s (%s): %s"
                                    .formatted(
                                            line.missing() ? "missing" : "remark",
                                            text(line.reason()),
                                            text(line.name()),
                                            text(line.id()),
                                            text(line.message()))));
        }
        service.out().flush();
        return empty ? Exit.WELL : Exit.NOT_SAFE;
    }

    private static String words(Report origin) {
        String state = switch (origin.state()) {
            case EMPTY -> "nothing is missing";
            case DIFFERS -> "something is missing";
            case LATE -> "ran out of time";
            case RUNNING -> "running";
            case UNUSABLE -> "unusable";
        };
        return """
               %s: %s%s
                 items: %,d listed, %,d of them new or changed, %,d looked into, %,d complete; %,d gone, %,d dismissed
                 files: %,d listed, %,d here, %,d missing""".formatted(
                        text(origin.origin()),
                        state,
                        origin.message().isEmpty() ? "" : ": " + text(origin.message()),
                        origin.itemsTold(),
                        origin.itemsChanged(),
                        origin.itemsTried(),
                        origin.itemsComplete(),
                        origin.itemsGone(),
                        origin.itemsDismissed(),
                        origin.filesTold(),
                        origin.filesHere(),
                        origin.missing());
    }

    private static String text(@Nullable Object said) {
        String text = Connection.text(said);
        return text.isEmpty() ? "–" : text;
    }
}
