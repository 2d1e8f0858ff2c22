package dozo.command;

import static java.util.Objects.requireNonNull;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Tells what the booking system plans. */
@Command(
        name = "bookings",
        mixinStandardHelpOptions = true,
        description = "Tells what the booking system plans: by a CSV file, or from its modality worklist.")
final class BookingsCommand {

    private static final Duration FILE_LIMIT = Duration.ofMinutes(10);

    @Spec
    private @Nullable CommandSpec spec;

    @Command(
            name = "csv",
            mixinStandardHelpOptions = true,
            description = {
                "Keeps the bookings of a CSV file, unless one of its lines is refused. Columns accession and date are",
                "needed; time, station, modality, procedure, series, patient, project, study are read; a person's name,",
                "day of birth and sex are not."
            })
    int csv(
            @Mixin Connection service,
            @Option(names = "--dry-run", description = "Say what would be kept; keep nothing.") boolean dryRun,
            @Option(names = "--encoding", paramLabel = "E", description = "utf-8, shift_jis or utf-16le.") @Nullable
                    String encoding,
            @Parameters(paramLabel = "FILE", description = "The export.") Path file) {
        if (encoding != null && !encoding.matches("[A-Za-z0-9_-]{1,20}")) {
            throw new Failure(Exit.USAGE, "--encoding: utf-8, shift_jis and utf-16le are accepted");
        }
        JsonNode answer = service.post(
                "/api/v1/bookings/bulk?dryRun=" + dryRun,
                encoding == null ? "text/csv" : "text/csv; charset=\"" + encoding + '"',
                file,
                FILE_LIMIT);
        return said(service, answer);
    }

    @Command(
            name = "worklist",
            mixinStandardHelpOptions = true,
            description = "Reads the modality worklist of some days, and keeps what is planned.")
    int worklist(
            @Mixin Connection service,
            @Parameters(paramLabel = "FROM", description = "The first day, as 2026-10-01.") String from,
            @Parameters(paramLabel = "UNTIL", description = "The last day.") String until) {
        return said(service, service.post("/api/v1/bookings/worklist", Map.of("from", from, "until", until)));
    }

    private int said(Connection service, JsonNode answer) {
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        if (service.json()) {
            Dozo.say(out, service, answer, "");
        } else {
            print(out, answer);
        }
        return answer.path("refused").asLong() == 0 ? Exit.WELL : Exit.REFUSED;
    }

    private static void print(PrintWriter out, JsonNode answer) {
        Table table = new Table(">LINE", "ACCESSION", "", "FIELD", "MESSAGE");
        int rows = 0;
        for (JsonNode line : answer.path("lines")) {
            if (line.hasNonNull("message")) {
                rows++;
                table.row(
                        line.path("line").asLong(),
                        text(line, "accession"),
                        text(line, "outcome").toLowerCase(Locale.ROOT),
                        text(line, "field"),
                        text(line, "message"));
            }
        }
        if (rows > 0) {
            table.print(out);
            out.println();
        }
        out.println("%,d bookings: %,d new, %,d changed, %,d could be kept, %,d unchanged, %,d refused"
                .formatted(
                        answer.path("lines").size(),
                        answer.path("booked").asLong(),
                        answer.path("changed").asLong(),
                        answer.path("accepted").asLong(),
                        answer.path("unchanged").asLong(),
                        answer.path("refused").asLong()));
        out.flush();
    }

    private static String text(JsonNode line, String field) {
        return Connection.visible(line.path(field).asString(""));
    }
}
