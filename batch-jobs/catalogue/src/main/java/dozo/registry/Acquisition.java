package dozo.registry;

import java.time.LocalDate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What an experiment was acquired with, and when. Each may be unknown (null), and is counted as unknown then: never guessed,
 * never left out.
 *
 * @param modality as DICOM codes it: {@code MR}, {@code MEG}, {@code EEG}
 * @param scanner an opaque code
 * @param day by the calendar where it was; not before 1900
 */
public record Acquisition(
        @Nullable String modality,
        @Nullable String scanner,
        @Nullable LocalDate day) {

    /** Nothing is known. */
    public static final Acquisition UNKNOWN = new Acquisition(null, null, null);

    private static final Pattern MODALITY = Pattern.compile("[A-Z0-9_]{1,16}");
    private static final LocalDate EARLIEST = LocalDate.of(1900, 1, 1);

    /** Refuses what is no code ({@link Refusal}) or too long ago. */
    public Acquisition {
        if (modality != null && !MODALITY.matcher(modality).matches()) {
            throw new Refusal(
                    "modality",
                    "\"%s\": expected a modality such as MR or MEG: 1 to 16 letters A-Z, digits and _",
                    modality);
        }
        if (scanner != null) {
            Code.checked("scanner", scanner);
        }
        if (day != null && day.isBefore(EARLIEST)) {
            throw new Refusal("acquired", "%s: expected a date from %s on", day, EARLIEST);
        }
    }

    /** What is unknown here as the other one says it. */
    public Acquisition or(Acquisition other) {
        return new Acquisition(
                modality == null ? other.modality : modality,
                scanner == null ? other.scanner : scanner,
                day == null ? other.day : day);
    }
}
