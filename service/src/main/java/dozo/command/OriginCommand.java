package dozo.command;

import dozo.collect.Reconciliations.Report;
import dozo.collect.Reconciliations.State;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
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

    private static final String[] RESULT = {
        "{origin}: [{state=empty?}nothing is missing|{state=differs?}something is missing|{state=late?}ran out of time|{state}]"
                + "[: {message}]",
        "  items: {itemsTold number} listed, {itemsChanged number} of them new or changed, {itemsTried number} looked into,"
                + " {itemsComplete number} complete; {itemsGone number} gone, {itemsDismissed number} dismissed",
        "  files: {filesTold number} listed, {filesHere number} here, {missing number} missing"
    };

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
        boolean empty = origins.value().stream().allMatch(origin -> origin.state() == State.EMPTY);
        if (csv) {
            service.printCsv(new Query(address + "/reconciliation"));
            return empty ? Exit.WELL : Exit.NOT_SAFE;
        }
        Answer<List<JsonNode>> lines = service.all(address + "/reconciliation", JsonNode.class);
        PrintWriter out = service.out();
        if (service.json()) {
            out.println(Connection.JSON.writeValueAsString(Map.of("origins", origins.sent(), "lines", lines.sent())));
        } else {
            if (origins.value().isEmpty()) {
                out.println("Run %d collected from no origin.".formatted(run));
            }
            origins.sent().forEach(origin -> Phrase.print(out, origin, RESULT));
            lines.value()
                    .forEach(line -> out.println("  %-7s %-13s %s"
                            .formatted(
                                    line.path("missing").booleanValue() ? "missing" : "remark",
                                    line.path("reason").asString(""),
                                    new Phrase("[{name}|–] ([{id}|–]): [{message}|–]")
                                            .of(line)
                                            .orElse(""))));
        }
        out.flush();
        return empty ? Exit.WELL : Exit.NOT_SAFE;
    }
}
