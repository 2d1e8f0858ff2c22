package dozo.source.flywheel;

import dozo.source.delivery.Item;
import dozo.source.delivery.Trouble;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A session, acquisition or analysis.
 *
 * @param id what it is; 24 hexadecimal digits
 * @param label what people call it: any text, and others beside it may have the same
 * @param project the id of the project that it is in
 * @param day on which a session's scan was, by the calendar where it was; null if that is not told
 * @param modified when Flywheel's record of it was changed, by Flywheel's clock; null if it does not say
 */
public record Container(
        Level level,
        String id,
        String label,
        @Nullable String project,
        @Nullable String subject,
        @Nullable LocalDate day,
        @Nullable Instant modified) {

    /** For people: its level and label, without control characters. */
    String shown() {
        return "%s %s".formatted(level.name().toLowerCase(Locale.ROOT), Answers.shown(label));
    }

    Item duplicate(String message) {
        return new Item(shown(), id, Trouble.DUPLICATE, message);
    }
}
