package dozo.command;

import dozo.api.BookingApi.ShownBooking;
import dozo.api.BookingApi.ShownBookings;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Tells what the booking system plans. */
@Command(name = "bookings", mixinStandardHelpOptions = true, description = "Bookings: csv, worklist.")
final class BookingsCommand {

    private static final Duration FILE_LIMIT = Duration.ofMinutes(10);

    @Command(
            name = "csv",
            mixinStandardHelpOptions = true,
            description = {
                "Imports the bookings of a CSV file, all or none. Required columns: accession, date. Optional columns:",
                "time, station, modality, procedure, series, patient, project, study. Names, birth dates and sexes of",
                "persons are not read."
            })
    int csv(
            @Mixin Connection service,
            @Option(names = "--dry-run", description = "Shows what would be imported; imports nothing.") boolean dryRun,
            @Option(names = "--encoding", paramLabel = "E", description = "utf-8, shift_jis or utf-16le.") @Nullable
                    String encoding,
            @Parameters(paramLabel = "FILE", description = "The export.") Path file) {
        if (encoding != null && !encoding.matches("[A-Za-z0-9_-]{1,20}")) {
            throw new Failure(Exit.USAGE, "--encoding: expected utf-8, shift_jis or utf-16le");
        }
        return said(
                service,
                service.post(
                        "/api/v1/bookings/bulk?dryRun=" + dryRun,
                        encoding == null ? "text/csv" : "text/csv; charset=\"" + encoding + '"',
                        file,
                        ShownBookings.class,
                        FILE_LIMIT));
    }

    @Command(
            name = "worklist",
            mixinStandardHelpOptions = true,
            description = "Imports the bookings of some days from the modality worklist.")
    int worklist(
            @Mixin Connection service,
            @Parameters(paramLabel = "FROM", description = "The first day, such as 2026-10-01.") String from,
            @Parameters(paramLabel = "UNTIL", description = "The last day.") String until) {
        return said(
                service,
                service.post("/api/v1/bookings/worklist", Map.of("from", from, "until", until), ShownBookings.class));
    }

    private int said(Connection service, Answer<ShownBookings> answer) {
        service.print(answer, out -> print(out, answer.value()));
        return answer.value().refused() == 0 ? Exit.WELL : Exit.REFUSED;
    }

    private static void print(PrintWriter out, ShownBookings answer) {
        Table table = new Table(">LINE", "ACCESSION", "", "FIELD", "MESSAGE");
        int rows = 0;
        for (ShownBooking line : answer.lines()) {
            if (line.message() != null) {
                rows++;
                table.row(
                        (long) line.line(),
                        Connection.text(line.accession()),
                        line.outcome().name().toLowerCase(Locale.ROOT),
                        Connection.text(line.field()),
                        Connection.text(line.message()));
            }
        }
        if (rows > 0) {
            table.print(out);
            out.println();
        }
        out.println("%,d bookings: %,d new, %,d changed, %,d valid but not imported, %,d unchanged, %,d refused"
                .formatted(
                        answer.lines().size(),
                        answer.booked(),
                        answer.changed(),
                        answer.accepted(),
                        answer.unchanged(),
                        answer.refused()));
    }
}
