package dozo.suggest;

import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Recordings of CTF's MEG systems: folders {@code .ds} with a resource file {@code .res4} and the data in
 * {@code .meg4}. A resource file begins with an 8-byte signature, three texts of 256 bytes and a number of 2 bytes.
 * Then follow time and date of the recording as texts of 255 bytes each, in either order.
 *
 * <p>Derived from the readers in MNE-Python 8aa8dec4, {@code mne/io/ctf/res4.py} ({@code _read_res4}) and
 * {@code info.py} ({@code _convert_time}: the four formats of dates; in numeric ones the day comes before the month),
 * and from the signatures in FieldTrip's {@code ft_filetype}.
 */
final class Ctf {

    private static final Set<String> RESOURCES = Set.of("MEG41RS", "MEG42RS", "MEG4RES", "MEG3RES");
    private static final Set<String> DATA = Set.of("MEG41CP", "MEG42CP", "MEG4CPT");
    private static final int BEGIN_BYTES = 8;
    private static final int FIELD_BYTES = 255;
    private static final int FIRST_AT = BEGIN_BYTES + 3 * 256 + 2;
    private static final int SECOND_AT = FIRST_AT + FIELD_BYTES;
    private static final List<DateTimeFormatter> DATES =
            List.of(written("d/M/uuuu"), written("d-MMM-uuuu"), written("EEE, MMM d, uuuu"), written("uuuu/M/d"));

    private Ctf() {}

    /** Returns the beginning of a resource file; empty if the file is not one. */
    static Optional<ByteBuffer> resource(OpenFile file) throws IOException {
        return Recording.bytes(file, 0, SECOND_AT + FIELD_BYTES)
                .filter(header -> RESOURCES.contains(Recording.text(header, 0, BEGIN_BYTES)));
    }

    /** Returns whether the file has the signature of a data file. */
    static boolean isData(OpenFile file) throws IOException {
        return Recording.bytes(file, 0, BEGIN_BYTES)
                .filter(begin -> DATA.contains(Recording.text(begin, 0, BEGIN_BYTES)))
                .isPresent();
    }

    /** Returns the day of the recording; null if neither text is a date. */
    static @Nullable LocalDate day(ByteBuffer header) {
        LocalDate day = parsed(Recording.text(header, SECOND_AT, FIELD_BYTES));
        return day == null ? parsed(Recording.text(header, FIRST_AT, FIELD_BYTES)) : day;
    }

    private static @Nullable LocalDate parsed(String text) {
        for (DateTimeFormatter form : DATES) {
            try {
                return LocalDate.parse(text, form);
            } catch (DateTimeException notSo) {
                // In another format, or not a date.
            }
        }
        return null;
    }

    private static DateTimeFormatter written(String pattern) {
        return new DateTimeFormatterBuilder()
                .parseCaseInsensitive()
                .appendPattern(pattern)
                .toFormatter(Locale.ENGLISH)
                .withResolverStyle(ResolverStyle.STRICT);
    }
}
