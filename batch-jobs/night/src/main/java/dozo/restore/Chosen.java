package dozo.restore;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which experiments a batch restores, and in which order. */
public sealed interface Chosen {

    /** These, by their names {@code PROJECT/EXPERIMENT}, in this order. Blank ones only count as lines. */
    record Listed(List<String> names) implements Chosen {}

    /**
     * All that are not retired.
     *
     * @param project only of this one; null: of all
     */
    record All(@Nullable String project, Order order) implements Chosen {}

    /** The order of the experiments of a project, or of all. */
    enum Order {
        /** By the day on which they were acquired, the latest first. */
        NEWEST,
        /** Projects with the earliest booking from today on first, and in each the newest experiments. */
        BOOKINGS
    }
}
