package dozo.worklist;

import dozo.registry.Acquisition;
import dozo.registry.Code;
import dozo.registry.Refusal;
import dozo.registry.Scanners;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A visit that the booking system plans. Null means unknown. It contains nobody's name, ID or birth date.
 *
 * @param accession the accession number, which identifies the booking; scanners copy it into every image
 * @param project the code of its project
 * @param studyUid the StudyInstanceUID that the scanner is given
 * @param aeTitle of the station that it is booked at
 * @param on in local time, as {@code time}
 * @param procedure in the booking system's words
 * @param seriesExpected how many series it should yield
 * @param subject a code made by {@link dozo.source.dicom.PseudonymousCode}
 */
public record Booking(
        String accession,
        @Nullable String project,
        @Nullable String studyUid,
        @Nullable String aeTitle,
        @Nullable String modality,
        LocalDate on,
        @Nullable LocalTime time,
        String procedure,
        @Nullable Integer seriesExpected,
        @Nullable String subject) {

    static final int SERIES_MAX = 10_000;

    private static final Pattern ACCESSION = Pattern.compile("[!-~]{1,64}");
    private static final Pattern UID = Pattern.compile("[0-9]+([.][0-9]+)+");
    private static final int UID_LENGTH_MAX = 64;
    private static final int PROCEDURE_LENGTH_MAX = 200;
    static final LocalDate EARLIEST = LocalDate.of(1900, 1, 1);
    static final LocalDate LATEST = LocalDate.of(9999, 12, 31);

    /** Refuses values with a wrong format. */
    public Booking {
        if (!ACCESSION.matcher(accession).matches()) {
            throw new Refusal("accession", "expected 1 to 64 printable ASCII characters without spaces");
        }
        if (project != null) {
            Code.checked("project", project);
        }
        if (studyUid != null
                && (studyUid.length() > UID_LENGTH_MAX || !UID.matcher(studyUid).matches())) {
            throw new Refusal("studyUid", "\"%s\": expected a UID of digits and dots", studyUid);
        }
        if (aeTitle != null) {
            Scanners.checkedAeTitle("aeTitle", aeTitle);
        }
        new Acquisition(modality, null, null);
        if (on.isBefore(EARLIEST) || on.isAfter(LATEST)) {
            throw new Refusal("date", "%s: expected a date from %s to %s", on, EARLIEST, LATEST);
        }
        if (procedure.length() > PROCEDURE_LENGTH_MAX || !Code.isText(procedure)) {
            throw new Refusal("procedure", "expected one line of at most %d characters", PROCEDURE_LENGTH_MAX);
        }
        if (seriesExpected != null && (seriesExpected < 1 || seriesExpected > SERIES_MAX)) {
            throw new Refusal("series", "%d: expected 1 to %,d", seriesExpected, SERIES_MAX);
        }
    }

    /** Returns this booking; values that it lacks are taken from the one before. */
    Booking over(Booking before) {
        return new Booking(
                accession,
                either(project, before.project),
                either(studyUid, before.studyUid),
                either(aeTitle, before.aeTitle),
                either(modality, before.modality),
                on,
                time == null && on.equals(before.on) ? before.time : time,
                procedure.isEmpty() ? before.procedure : procedure,
                either(seriesExpected, before.seriesExpected),
                either(subject, before.subject));
    }

    private static <T> @Nullable T either(@Nullable T said, @Nullable T before) {
        return said == null ? before : said;
    }

    /**
     * Returns the text for the ledger. It leaves out the procedure: that is free text, and the ledger is permanent.
     */
    String told() {
        return "project %s, on %s at %s, station %s, modality %s, study %s, series %s, subject %s"
                .formatted(
                        known(project),
                        on,
                        known(time),
                        known(aeTitle),
                        known(modality),
                        known(studyUid),
                        known(seriesExpected),
                        known(subject));
    }

    private static String known(@Nullable Object value) {
        return Objects.toString(value, "unknown");
    }
}
