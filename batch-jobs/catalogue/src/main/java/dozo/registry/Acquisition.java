package dozo.registry;

import java.time.LocalDate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How and when an experiment was acquired. Each value may be unknown (null), and is then counted as unknown: never
 * guessed, never omitted.
 *
 * @param modality as DICOM codes it: {@code MR}, {@code MEG}, {@code EEG}
 * @param scanner an opaque code
 * @param day by the local calendar of the place; not before 1900
 */
public record Acquisition(
        @Nullable String modality,
        @Nullable String scanner,
        @Nullable LocalDate day) {

    public static final Acquisition UNKNOWN = new Acquisition(null, null, null);

    private static final Pattern MODALITY = Pattern.compile("[A-Z0-9_]{1,16}");
    private static final LocalDate EARLIEST = LocalDate.of(1900, 1, 1);

    /** Refuses malformed codes and days that are too long ago ({@link Refusal}). */
    public Acquisition {
        Refusals refusals = new Refusals();
        if (modality != null && !isModality(modality)) {
            refusals.add(new Refusal(
                    "modality",
                    "\"%s\": expected a modality such as MR or MEG: 1 to 16 letters A-Z, digits and _",
                    modality));
        }
        if (scanner != null) {
            refusals.tried(() -> Code.checked("scanner", scanner));
        }
        if (day != null && day.isBefore(EARLIEST)) {
            refusals.add(new Refusal("acquired", "%s: expected a date from %s on", day, EARLIEST));
        }
        refusals.refuse();
    }

    /** Returns whether this has the form of a modality. */
    public static boolean isModality(String text) {
        return MODALITY.matcher(text).matches();
    }

    /** Returns false for days before 1970, when there were no such scanners: a clock or a program has made them up. */
    public static boolean isPlausible(LocalDate day) {
        return day.getYear() >= 1970;
    }

    /** Returns this with its unknown values taken from the other. */
    public Acquisition or(Acquisition other) {
        return new Acquisition(
                modality == null ? other.modality : modality,
                scanner == null ? other.scanner : scanner,
                day == null ? other.day : day);
    }
}
