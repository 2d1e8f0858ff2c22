package dozo.command;

import dozo.api.ReportApi.ShownReport;
import dozo.report.Report.Verdict;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Says what the last night did. */
@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        description = "Says what the night before a morning did, how everything stood, and what needed a person.",
        footer = {
            "",
            "Exit code: 0: all that was due is safe at every site; 1: it is not, or nobody knows.",
        })
final class ReportCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Option(names = "--date", paramLabel = "DAY", description = "The day of the morning. Default: today.")
    private @Nullable String date;

    @Option(names = "--language", paramLabel = "LANGUAGE", description = "en or ja. Default: en.")
    private @Nullable String language;

    @Override
    public Integer call() {
        Query query = new Query("/api/v1/report").with("date", date).with("language", language);
        Answer<ShownReport> answer = service.get(query.toString(), ShownReport.class);
        service.print(
                answer,
                out -> answer.value().text().lines().map(Connection::visible).forEach(out::println));
        Verdict verdict = answer.value().verdict();
        return verdict == Verdict.SAFE || verdict == Verdict.SAFE_BUT ? Exit.WELL : Exit.NOT_SAFE;
    }
}
