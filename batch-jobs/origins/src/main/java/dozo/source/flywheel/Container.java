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
 * @param id Flywheel's own, 24 hexadecimal digits
 * @param label its name for people: any text, not necessarily unique
 * @param project the id of its project
 * @param day of a session's scan, in the scan's time zone; null if not stated
 * @param modified when Flywheel's record of it was changed, by Flywheel's clock; null if not stated
 */
public record Container(
        Level level,
        String id,
        String label,
        @Nullable String project,
        @Nullable String subject,
        @Nullable LocalDate day,
        @Nullable Instant modified) {

    /** Returns its level and label for people, without control characters. */
    String shown() {
        return "%s %s".formatted(level.name().toLowerCase(Locale.ROOT), Answers.shown(label));
    }

    Item duplicate(String message) {
        return new Item(shown(), id, Trouble.DUPLICATE, message);
    }
}
