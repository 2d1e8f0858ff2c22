package dozo.report;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A site with what was planned there for a night.
 *
 * @param recorded whether that is known
 * @param dueAt when a night was due last; null: none was, or that is not known
 */
record PlannedSite(
        int id, String name, boolean recorded, @Nullable Instant dueAt) {}
