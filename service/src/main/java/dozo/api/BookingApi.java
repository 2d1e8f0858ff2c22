package dozo.api;

import dozo.api.http.Demanded;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.registry.WrittenDay;
import dozo.worklist.Booking;
import dozo.worklist.Bookings;
import dozo.worklist.Bookings.Answer;
import dozo.worklist.JudgedBooking;
import dozo.worklist.JudgedBooking.Outcome;
import dozo.worklist.Worklist;
import dozo.worklist.WorklistReadings;
import dozo.worklist.WorklistReadings.Reading;
import java.io.IOException;
import java.io.InputStream;
import java.security.Principal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Bookings of the booking system. */
@Verb.Group(name = "bookings", about = "Bookings", section = "Set-up")
@RestController
@RequestMapping("/api/v1/bookings")
public record BookingApi(Bookings bookings, Worklist worklist, WorklistReadings readings) {

    /** What the commands say of the result of an import. */
    private static final String IMPORTED =
            "{lines count} bookings: {booked number} new, {changed number} changed, {accepted number} valid but not imported,"
                    + " {unchanged number} unchanged, {refused number} refused";

    /**
     * The result for one booking.
     *
     * @param line its first line in the file; of a worklist, its position in the answer
     * @param field the invalid field of a refused booking
     * @param subject the pseudonymous code made from the patient's ID
     */
    public record ShownBooking(
            int line,
            Outcome outcome,
            @Nullable String accession,
            @Nullable String project,
            @Nullable LocalDate date,
            @Nullable LocalTime time,
            @Nullable String aeTitle,
            @Nullable String modality,
            @Nullable String procedure,
            @Nullable Integer series,
            @Nullable String studyInstanceUid,
            @Nullable String subject,
            @Nullable String field,
            @Nullable Message message) {

        static ShownBooking of(JudgedBooking line) {
            Booking booking = line.booking();
            if (booking == null) {
                return new ShownBooking(
                        line.line(),
                        line.outcome(),
                        line.accession(),
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        null,
                        line.field(),
                        line.message());
            }
            return new ShownBooking(
                    line.line(),
                    line.outcome(),
                    line.accession(),
                    booking.project(),
                    booking.on(),
                    booking.time(),
                    booking.aeTitle(),
                    booking.modality(),
                    booking.procedure(),
                    booking.seriesExpected(),
                    booking.studyUid(),
                    booking.subject(),
                    line.field(),
                    line.message());
        }
    }

    /**
     * The result of an import of bookings.
     *
     * @param encoding the encoding of the file; missing for a worklist
     * @param accepted valid lines that were not imported
     */
    public record ShownBookings(
            @Nullable String encoding,
            @Nullable String separator,
            boolean dryRun,
            long booked,
            long changed,
            long accepted,
            long unchanged,
            long refused,
            List<ShownBooking> lines) {

        static ShownBookings of(Answer answer, boolean dryRun) {
            return new ShownBookings(
                    answer.encoding(),
                    answer.separator() == null ? null : answer.separator().toString(),
                    dryRun,
                    answer.count(Outcome.BOOKED),
                    answer.count(Outcome.CHANGED),
                    answer.count(Outcome.ACCEPTED),
                    answer.count(Outcome.UNCHANGED),
                    answer.count(Outcome.REFUSED),
                    answer.lines().stream().map(ShownBooking::of).toList());
        }
    }

    /**
     * The state of the automatic worklist readings.
     *
     * @param configured whether a worklist is configured
     * @param readAt the time of the last successful reading, whose result {@code booked} to {@code refused} are
     * @param failingSince the time of the first failure after it; missing: the last reading succeeded
     * @param message why the last reading failed
     */
    record ShownReading(
            boolean configured,
            @Nullable Instant triedAt,
            @Nullable Instant readAt,
            @Nullable Instant failingSince,
            @Nullable String message,
            @Nullable Long booked,
            @Nullable Long changed,
            @Nullable Long unchanged,
            @Nullable Long refused) {

        static ShownReading of(boolean configured, @Nullable Reading last) {
            return last == null
                    ? new ShownReading(configured, null, null, null, null, null, null, null, null)
                    : new ShownReading(
                            configured,
                            last.triedAt(),
                            last.readAt(),
                            last.failingSince(),
                            last.message().isEmpty() ? null : last.message(),
                            last.booked(),
                            last.changed(),
                            last.unchanged(),
                            last.refused());
        }
    }

    /**
     * A period of days.
     *
     * @param from the first day, as 2026-10-01
     * @param until the last day
     */
    record Period(
            @Demanded @Nullable String from,

            @Demanded @Nullable String until) {}

    /**
     * Imports the bookings of a CSV file, all or none. Columns that name a person are not read. The charset of the content type
     * is the file's encoding, if given. 422: the whole file cannot be parsed.
     */
    @Verb(
            value = "bookings csv [--dry-run] [--encoding=E:-] FILE:-",
            arguments = {
                "--dry-run=shows what would be imported; imports nothing",
                "--encoding=the encoding: utf-8, shift_jis or utf-16le",
                "FILE=the export"
            },
            about =
                    "Imports the bookings of a CSV file, all or none. Required columns: accession, date. Optional columns:"
                            + " time, station, modality, procedure, series, patient, project, study. Names, birth dates and sexes"
                            + " of persons are not read.",
            items = "lines",
            columns = {
                ">LINE={line number}",
                "ACCESSION={accession}|",
                "={outcome word}",
                "FIELD={field}|",
                "MESSAGE={message}"
            },
            which = "{message}",
            total = IMPORTED,
            result = true,
            exit = "{refused?}3|0",
            example = "dozo bookings csv --dry-run bookings.csv")
    @PostMapping(path = "/bulk", consumes = "text/csv")
    ShownBookings keepAll(
            @RequestParam(defaultValue = "false") boolean dryRun,
            @RequestHeader("Content-Type") String type,
            InputStream csv,
            Principal actor,
            Sight sight)
            throws IOException {
        Answer answer = bookings.keep(sight, csv, Sheet.charset(type), dryRun, actor.getName());
        return ShownBookings.of(answer, dryRun);
    }

    /** Shows the state of the automatic worklist readings. */
    @GetMapping("/worklist")
    ShownReading reading() {
        return ShownReading.of(readings.isThere(), readings.last().orElse(null));
    }

    /** Reads the modality worklist of some days and stores its bookings. 502: the worklist cannot be read. */
    @Verb(
            value = "bookings worklist FROM UNTIL",
            about = "Imports the bookings of some days from the modality worklist.",
            items = "lines",
            columns = {
                ">LINE={line number}",
                "ACCESSION={accession}|",
                "={outcome word}",
                "FIELD={field}|",
                "MESSAGE={message}"
            },
            which = "{message}",
            total = IMPORTED,
            result = true,
            exit = "{refused?}3|0",
            example = "dozo bookings worklist 2026-10-01 2026-10-31")
    @PostMapping("/worklist")
    ShownBookings read(@RequestBody Period period, Principal actor) {
        LocalDate from = WrittenDay.ofIso("from", String.valueOf(period.from));
        LocalDate until = WrittenDay.ofIso("until", String.valueOf(period.until));
        return ShownBookings.of(worklist.read(from, until, actor.getName()), false);
    }
}
