package dozo.worklist;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Subject;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.ledger.Worded;
import dozo.registry.CsvFile;
import dozo.registry.CsvFile.Row;
import dozo.registry.Refusal;
import dozo.registry.WrittenDay;
import dozo.source.dicom.PseudonymousCode;
import dozo.worklist.JudgedBooking.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.sql.Timestamp;
import java.time.DateTimeException;
import java.time.InstantSource;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The bookings. A booking is identified by its accession number. If it is received again, the new values replace the
 * old ones; values that are not given stay. All bookings of a file or answer are stored with their ledger rows in one
 * transaction, or none.
 */
public class Bookings {

    private static final List<String> TOLD_NEW = List.of("origin", "after");
    private static final List<String> TOLD_CHANGED = List.of("origin", "before", "after");
    private static final Pattern TIME = Pattern.compile("([0-9]{1,2}):?([0-9]{2})(?::?([0-9]{2})(?:\\.[0-9]{1,6})?)?");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,5}");

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final PseudonymousCode codes;
    private final InstantSource clock;
    private final TransactionTemplate transaction;

    /** Where bookings were received from. */
    public enum BookingSource implements Worded {
        CSV,
        WORKLIST;
    }

    /**
     * The result for all received bookings.
     *
     * @param encoding that the file was read in, with its {@code separator}; null if there was no file
     */
    public record Answer(
            @Nullable String encoding, @Nullable Character separator, List<JudgedBooking> lines) {

        /** Returns how many lines have this outcome. */
        public long count(Outcome outcome) {
            return lines.stream().filter(line -> line.outcome() == outcome).count();
        }
    }

    public Bookings(
            JdbcClient jdbc,
            Ledger ledger,
            PseudonymousCode codes,
            InstantSource clock,
            PlatformTransactionManager transactions) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.codes = codes;
        this.clock = clock;
        this.transaction = new TransactionTemplate(transactions);
    }

    /**
     * Stores the bookings of a CSV file, unless one of its lines is refused.
     *
     * @param sight unless it includes everything, each line must name a project in sight
     * @param encoding its name; null to detect it from the bytes
     * @param dryRun whether to store nothing and return only the verdicts
     * @throws Refusal if the file as a whole cannot be understood, or is too large
     */
    public Answer keep(Sight sight, InputStream csv, @Nullable String encoding, boolean dryRun, String actor)
            throws IOException {
        CsvFile<JudgedBooking> file = CsvFile.read(csv, encoding, List.of(BookingColumn.values()), row -> judged(row));
        List<JudgedBooking> lines = keep(sight, file.lines(), BookingSource.CSV, dryRun, actor);
        return new Answer(file.encoding(), file.separator(), lines);
    }

    /** Stores the bookings of a worklist; refused ones do not prevent the others. */
    List<JudgedBooking> keep(List<JudgedBooking> told, String actor) {
        List<JudgedBooking> good = told.stream().filter(line -> !line.refused()).toList();
        Map<Integer, JudgedBooking> kept = keep(Sight.EVERYTHING, good, BookingSource.WORKLIST, false, actor).stream()
                .collect(Collectors.toMap(JudgedBooking::line, line -> line));
        return told.stream().map(line -> kept.getOrDefault(line.line(), line)).toList();
    }

    private List<JudgedBooking> keep(
            Sight sight, List<JudgedBooking> told, BookingSource origin, boolean dryRun, String actor) {
        return requireNonNull(transaction.execute(status -> {
            lock();
            List<JudgedBooking> judged = against(sight, told);
            if (!dryRun && judged.stream().noneMatch(JudgedBooking::refused)) {
                write(judged, origin, actor);
                return judged;
            }
            return judged.stream()
                    .map(line -> switch (line.outcome()) {
                        case BOOKED, CHANGED, ACCEPTED -> line.with(Outcome.ACCEPTED, requireNonNull(line.booking()));
                        case UNCHANGED, REFUSED -> line;
                    })
                    .toList();
        }));
    }

    /** Lets only one transaction at a time store bookings: a booking that is not known yet has no row to lock. */
    private void lock() {
        jdbc.sql("select pg_advisory_xact_lock(hashtext('dozo.booking'))")
                .query()
                .listOfRows();
    }

    /**
     * Compares the lines with known bookings. NB: known bookings are locked, so that none is erased meanwhile, and the
     * ledger's "before" is exactly what is replaced.
     */
    private List<JudgedBooking> against(Sight sight, List<JudgedBooking> told) {
        Map<String, Booking> known = known(told);
        Set<String> projects = projects(told);
        Set<String> seen = new HashSet<>();
        List<JudgedBooking> judged = new ArrayList<>();
        for (JudgedBooking line : told) {
            if (line.booking() == null) {
                judged.add(line);
                continue;
            }
            try {
                judged.add(
                        against(sight, projects, line, known.get(line.booking().accession()), seen));
            } catch (Refusal refusal) {
                judged.add(JudgedBooking.refused(line.line(), line.accession(), refusal));
            }
        }
        return judged;
    }

    private static JudgedBooking against(
            Sight sight, Set<String> projects, JudgedBooking line, @Nullable Booking before, Set<String> seen) {
        Booking told = requireNonNull(line.booking());
        if (!seen.add(told.accession())) {
            throw new Refusal("accession", "%s also occurs in an earlier line", told.accession());
        }
        if (before != null && !sight.ofEverything() && (before.project() == null || !sight.sees(before.project()))) {
            throw new Refusal("accession", "%s is booked for another project", told.accession());
        }
        Booking after = before == null ? told : told.over(before);
        String project = after.project();
        if (project != null && !(projects.contains(project) && sight.sees(project))) {
            throw new Refusal("project", "project \"%s\" does not exist; create it first", project);
        }
        if (project == null && !sight.ofEverything()) {
            throw new Refusal("project", "expected one of your projects");
        }
        if (before == null) {
            return line.with(Outcome.BOOKED, after);
        }
        return line.with(after.equals(before) ? Outcome.UNCHANGED : Outcome.CHANGED, after);
    }

    private Map<String, Booking> known(List<JudgedBooking> told) {
        Map<String, Booking> known = new HashMap<>();
        jdbc.sql("""
                        select b.*, b.scheduled_on as on, b.scheduled_time as time, p.code as project
                        from booking b left join project p using (project_id)
                        where b.accession = any(:accessions) for update of b
                        """)
                .param(
                        "accessions",
                        told.stream()
                                .map(JudgedBooking::accession)
                                .filter(accession -> accession != null)
                                .toArray(String[]::new))
                .query(Rows.of(Booking.class))
                .list()
                .forEach(booking -> known.put(booking.accession(), booking));
        return known;
    }

    private Set<String> projects(List<JudgedBooking> told) {
        return Set.copyOf(jdbc.sql("""
                        select code from project where code = any(:told)
                        union select p.code from booking b join project p using (project_id) where b.accession = any(:accessions)
                        """)
                .param(
                        "told",
                        told.stream()
                                .map(JudgedBooking::booking)
                                .map(booking -> booking == null ? null : booking.project())
                                .filter(project -> project != null)
                                .distinct()
                                .toArray(String[]::new))
                .param("accessions", told.stream().map(JudgedBooking::accession).toArray(String[]::new))
                .query((row, n) -> row.getString(1))
                .list());
    }

    private void write(List<JudgedBooking> judged, BookingSource origin, String actor) {
        Map<String, Booking> before = known(judged);
        List<Subject> made = new ArrayList<>();
        List<Subject> changed = new ArrayList<>();
        for (JudgedBooking line : judged) {
            Booking booking = requireNonNull(line.booking());
            if (line.outcome() == Outcome.UNCHANGED) {
                continue;
            }
            write(booking, origin, actor);
            Booking was = before.get(booking.accession());
            if (was == null) {
                made.add(new Subject(booking.accession(), List.of(origin.word(), booking.told())));
            } else {
                changed.add(new Subject(booking.accession(), List.of(origin.word(), was.told(), booking.told())));
            }
        }
        // At the end, because the ledger is locked from here to the end of the transaction.
        if (!made.isEmpty()) {
            ledger.appendAll(actor, "booking.made", TOLD_NEW, made);
        }
        if (!changed.isEmpty()) {
            ledger.appendAll(actor, "booking.changed", TOLD_CHANGED, changed);
        }
    }

    private void write(Booking booking, BookingSource origin, String actor) {
        jdbc.sql("""
                        insert into booking (accession, project_id, study_uid, ae_title, modality, scheduled_on, scheduled_time,
                                             procedure, series_expected, subject, origin, booked_at, booked_by)
                        values (:accession, (select project_id from project where code = :project), :studyUid, :aeTitle, :modality,
                                :on, :time, :procedure, :seriesExpected, :subject, :origin, :now, :actor)
                        on conflict (accession) do update
                            set project_id = excluded.project_id, study_uid = excluded.study_uid, ae_title = excluded.ae_title,
                                modality = excluded.modality, scheduled_on = excluded.scheduled_on,
                                scheduled_time = excluded.scheduled_time, procedure = excluded.procedure,
                                series_expected = excluded.series_expected, subject = excluded.subject, origin = excluded.origin
                        """)
                .params(Rows.params(booking))
                .param("origin", origin.word())
                .param("now", Timestamp.from(clock.instant()))
                .param("actor", actor)
                .update();
    }

    private JudgedBooking judged(Row<BookingColumn> row) {
        String accession = row.stripped(BookingColumn.ACCESSION);
        if (row.refusal() != null) {
            return JudgedBooking.refused(row.line(), accession, row.refusal());
        }
        try {
            return JudgedBooking.accepted(row.line(), booking(row));
        } catch (Refusal refusal) {
            return JudgedBooking.refused(row.line(), accession, refusal);
        }
    }

    private Booking booking(Row<BookingColumn> row) {
        String procedure = row.stripped(BookingColumn.PROCEDURE);
        return new Booking(
                required(row, BookingColumn.ACCESSION),
                row.stripped(BookingColumn.PROJECT),
                row.stripped(BookingColumn.STUDY),
                row.stripped(BookingColumn.STATION),
                row.stripped(BookingColumn.MODALITY),
                WrittenDay.of(BookingColumn.DATE.field(), required(row, BookingColumn.DATE)),
                time(row.stripped(BookingColumn.TIME)),
                procedure == null ? "" : procedure,
                number(row.stripped(BookingColumn.SERIES)),
                codes.of(row.stripped(BookingColumn.PATIENT)).orElse(null));
    }

    private static String required(Row<BookingColumn> row, BookingColumn column) {
        return Optional.ofNullable(row.stripped(column))
                .orElseThrow(() -> new Refusal(column.field(), "expected a value; the cell is empty"));
    }

    /** Parses a time of day; null if there is none. */
    static @Nullable LocalTime time(@Nullable String written) {
        if (written == null || written.isBlank()) {
            return null;
        }
        Matcher time = TIME.matcher(written.strip());
        try {
            if (time.matches()) {
                int second = time.group(3) == null ? 0 : Integer.parseInt(time.group(3));
                return LocalTime.of(Integer.parseInt(time.group(1)), Integer.parseInt(time.group(2)), second);
            }
        } catch (DateTimeException noSuchTime) {
            throw new Refusal(
                    "time", "\"%s\": invalid time; expected a time such as 9:30, 09:30:00 or 093000", written);
        }
        throw new Refusal("time", "\"%s\": expected a time such as 9:30, 09:30:00 or 093000", written);
    }

    private static @Nullable Integer number(@Nullable String written) {
        if (written == null) {
            return null;
        }
        if (!NUMBER.matcher(written).matches()) {
            throw new Refusal("series", "\"%s\": expected a number from 1 to %,d", written, Booking.SERIES_MAX);
        }
        return Integer.valueOf(written);
    }
}
