package dozo.source.dicom;

import java.time.LocalDate;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The header of a DICOM file. Values are kept as the scanner wrote them, without checks; {@link #illegal()} returns
 * those that break the standard's rules.
 *
 * @param part10 whether the file has the preamble and "DICM", or is a bare data set
 * @param values those of {@link Tag} that the file has, including empty ones
 */
public record Header(boolean part10, Map<Tag, Value> values) implements Parsed {

    /** No magnet is stronger; larger values are in gauss. */
    private static final double TESLA_MAX = 100;

    private static final double GAUSS_PER_TESLA = 10_000;

    public Header {
        values = values.isEmpty() ? Map.of() : Collections.unmodifiableMap(new EnumMap<>(values));
    }

    /** Returns the values of a tag; none if it is missing or empty. */
    public List<String> texts(Tag tag) {
        Value value = values.get(tag);
        return value == null ? List.of() : value.texts();
    }

    /** Returns the first value of a tag that is not empty. */
    public Optional<String> text(Tag tag) {
        return texts(tag).stream().filter(text -> !text.isEmpty()).findFirst();
    }

    /** Returns the day in a date tag; empty if it is not a valid date. */
    public Optional<LocalDate> day(Tag tag) {
        return text(tag).flatMap(Legal::day);
    }

    /** Returns the whole number in a tag; empty if it is not one. */
    public OptionalInt number(Tag tag) {
        String text = firstLegal(tag, Tag.Form.WHOLE);
        return text == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(text));
    }

    /** Returns the magnet's field strength in tesla, whichever unit the file uses; empty if it is not a number. */
    public OptionalDouble fieldStrengthTesla() {
        String text = firstLegal(Tag.MAGNETIC_FIELD_STRENGTH, Tag.Form.DECIMAL);
        if (text == null) {
            return OptionalDouble.empty();
        }
        double strength = Double.parseDouble(text);
        return OptionalDouble.of(strength > TESLA_MAX ? strength / GAUSS_PER_TESLA : strength);
    }

    /**
     * Returns the tags whose values break the rules: impossible dates, invalid UIDs, text in another character set than
     * declared.
     */
    public Set<Tag> illegal() {
        Set<Tag> illegal = EnumSet.noneOf(Tag.class);
        values.forEach((tag, value) -> {
            if (!value.asDeclared() || !value.texts().stream().allMatch(tag.form()::isLegal)) {
                illegal.add(tag);
            }
        });
        return illegal;
    }

    private @Nullable String firstLegal(Tag tag, Tag.Form form) {
        return text(tag).filter(form::isLegal).orElse(null);
    }
}
