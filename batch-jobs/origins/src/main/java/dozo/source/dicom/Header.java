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
 * What a DICOM file says of itself. Nothing is checked: a scanner's word is kept as it is, {@link #illegal()} tells what breaks the
 * standard's rules.
 *
 * @param part10 whether it has the preamble and "DICM" of a file, or is a bare data set
 * @param values what of {@link Tag} the file has, also where it is empty
 */
public record Header(boolean part10, Map<Tag, Value> values) implements Parsed {

    /** No magnet has so many teslas; one that says more says gauss. */
    private static final double TESLA_MAX = 100;

    private static final double GAUSS_PER_TESLA = 10_000;

    public Header {
        values = values.isEmpty() ? Map.of() : Collections.unmodifiableMap(new EnumMap<>(values));
    }

    /** The values of one tag; none if it is missing or empty. */
    public List<String> texts(Tag tag) {
        Value value = values.get(tag);
        return value == null ? List.of() : value.texts();
    }

    /** The first value of a tag. */
    public Optional<String> text(Tag tag) {
        return texts(tag).stream().filter(text -> !text.isEmpty()).findFirst();
    }

    /** The day of a tag that is a date; empty also where it is none. */
    public Optional<LocalDate> day(Tag tag) {
        return text(tag).flatMap(Legal::day);
    }

    /** The whole number of a tag that is one; empty also where it is none. */
    public OptionalInt number(Tag tag) {
        String text = firstLegal(tag, Tag.Form.WHOLE);
        return text == null ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(text));
    }

    /** The magnet's strength, whatever unit the file has it in; empty also where it is no number. */
    public OptionalDouble fieldStrengthTesla() {
        String text = firstLegal(Tag.MAGNETIC_FIELD_STRENGTH, Tag.Form.DECIMAL);
        if (text == null) {
            return OptionalDouble.empty();
        }
        double strength = Double.parseDouble(text);
        return OptionalDouble.of(strength > TESLA_MAX ? strength / GAUSS_PER_TESLA : strength);
    }

    /** Tags whose values break the rules: impossible days, UIDs that are none, text in another character set than is named. */
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
