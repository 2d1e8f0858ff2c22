package dozo.source.flywheel;

import dozo.source.delivery.Item;
import dozo.source.delivery.Trouble;
import java.time.Instant;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * A group, project, subject, session, acquisition or analysis.
 *
 * @param id Flywheel's own: 24 hexadecimal digits, or a group's readable name
 * @param label its name for people: any text, not necessarily unique
 * @param group the id of its group; this and the next two are null if not stated
 * @param day of a session's scan, in the scan's time zone; null if not stated
 * @param modified when Flywheel's record of it was changed, by Flywheel's clock; null if not stated
 */
public record Container(
        Level level,
        String id,
        String label,
        @Nullable String group,
        @Nullable String project,
        @Nullable String subject,
        @Nullable LocalDate day,
        @Nullable Instant modified) {

    /** Returns its level and label for people, without control characters. */
    String shown() {
        return "%s %s".formatted(level.word(), Answers.shown(label));
    }

    Item duplicate(String message) {
        return new Item(shown(), id, Trouble.DUPLICATE, message);
    }
}
