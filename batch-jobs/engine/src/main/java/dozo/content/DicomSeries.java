package dozo.content;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What a data set says of itself and its place in a series. */
final class DicomSeries {

    private static final int SOP_CLASS = 0x0008_0016;
    private static final int SOP_INSTANCE = 0x0008_0018;
    private static final int DESCRIPTION = 0x0008_103E;
    private static final int SERIES_UID = 0x0020_000E;
    private static final int SERIES_NUMBER = 0x0020_0011;
    private static final int NUMBER = 0x0020_0013;

    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");
    private static final Pattern UID = Pattern.compile("[0-9.]{1,64}");

    /** Larger or negative numbers count nothing. */
    private static final Pattern DIGITS = Pattern.compile("\\+?[0-9]{1,9}");

    private String sopClass = "";
    private String sopInstance = "";
    private String uid = "";
    private String description = "";
    private @Nullable Integer seriesNumber;
    private @Nullable Integer number;

    /** Returns whether an element says something of the series. */
    static boolean isAttribute(int tag) {
        return switch (tag) {
            case SOP_CLASS, SOP_INSTANCE, DESCRIPTION, SERIES_UID, SERIES_NUMBER, NUMBER -> true;
            default -> false;
        };
    }

    /** Takes the value of an attribute. What has the wrong form says nothing. */
    void take(int tag, ByteBuffer value) {
        String text = StandardCharsets.UTF_8.decode(value.duplicate()).toString();
        text = CONTROL.matcher(text).replaceAll(" ").strip();
        switch (tag) {
            case DESCRIPTION -> description = text;
            case SOP_CLASS -> sopClass = uid(text);
            case SOP_INSTANCE -> sopInstance = uid(text);
            case SERIES_UID -> uid = uid(text);
            case SERIES_NUMBER -> seriesNumber = number(text);
            case NUMBER -> number = number(text);
            default -> throw new IllegalArgumentException("not of the series: %08x".formatted(tag));
        }
    }

    private static String uid(String text) {
        return UID.matcher(text).matches() ? text : "";
    }

    private static @Nullable Integer number(String text) {
        return DIGITS.matcher(text).matches() ? Integer.valueOf(text) : null;
    }

    /** Returns both; empty: the data set says neither. */
    Optional<Relation> instance() {
        Instance said = new Instance(sopClass, sopInstance, uid, seriesNumber, description, number);
        return said.isNumbered() || said.isIdentified() ? Optional.of(said) : Optional.empty();
    }
}
