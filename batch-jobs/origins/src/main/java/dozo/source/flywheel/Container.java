package dozo.source.flywheel;

import java.time.Instant;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * A group, project, subject, session, acquisition or analysis.
 *
 * @param id what it is; a name in the case of a group, 24 hexadecimal digits else
 * @param label what people call it: any text, and others beside it may have the same
 * @param project the id of the project that it is in; null for groups and projects
 * @param session the id of the session that it is in; null above sessions
 * @param day on which a session's scan was, by the calendar where it was; null if that is not told
 * @param modified when Flywheel's record of it was changed, by Flywheel's clock; null if it does not say
 */
public record Container(
        Level level,
        String id,
        String label,
        @Nullable String project,
        @Nullable String subject,
        @Nullable String session,
        @Nullable LocalDate day,
        @Nullable Instant modified) {}
