package dozo.command;

import dozo.api.ReconciliationApi.ShownReconciliation;
import dozo.collect.Reconciliations.ReportLine;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The systems that experiments are collected from. */
@Command(
        name = "origin",
        mixinStandardHelpOptions = true,
        description =
                "Systems that experiments are collected from: accept, arrivals, dismiss, list, report, save, takeback.")
final class OriginCommand {

    private static final String ARRIVALS = "/api/v1/arrivals";

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
        Answer<List<ShownReconciliation>> origins = service.page(address + "/origins", ShownReconciliation.class);
        boolean empty =
                origins.value().stream().allMatch(origin -> origin.state().equals("empty"));
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

    private static String words(ShownReconciliation origin) {
        String state = switch (origin.state()) {
            case "empty" -> "nothing is missing";
            case "differs" -> "something is missing";
            case "late" -> "ran out of time";
            default -> text(origin.state());
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
