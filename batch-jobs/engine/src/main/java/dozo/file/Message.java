package dozo.file;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A sentence for people: an English format and its values. The format, exactly as in the code, is the key by which
 * pages find translations ({@code ui/src/main/resources/room_messages_ja.txt}, ADR 0053). A value may be a sentence
 * itself.
 */
public record Message(String format, List<Object> values) {

    /** Returns a sentence; {@code values} as for {@link String#format}, times as {@link Zoned} has them. */
    @FormatMethod
    public static Message of(@FormatString String format, Object... values) {
        return new Message(
                format,
                Stream.of(values)
                        .<Object>map(value -> value instanceof Instant time ? Zoned.text(time) : value)
                        .toList());
    }

    /** Returns a text from elsewhere, such as a system's own message. It stays the same in every language. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public static Message verbatim(String text) {
        return new Message("%s", List.of(text));
    }

    /** Returns the sentence in English. */
    @Override
    @JsonValue
    public String toString() {
        return String.format(Locale.ROOT, format, values.toArray());
    }
}
