package dozo.plan;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is to be sent of one experiment.
 *
 * @param experiment its number
 * @param project the number of its project
 * @param priority the weight of its project's share: 1 or more
 * @param work what is not safe yet; of an experiment that was never read, what others had
 * @param uncertainty the relative standard deviation of the work: 0 if it was counted, above if it is an estimate
 * @param deadline when its source deletes it; null: not known to
 */
public record Pending(
        int experiment,
        int project,
        int priority,
        Work work,
        double uncertainty,
        @Nullable Instant deadline) {

    public Pending {
        if (priority < 1) {
            throw new IllegalArgumentException("invalid priority: " + priority);
        }
        // Written so that NaN is refused, too.
        if (!(uncertainty >= 0 && uncertainty < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("invalid uncertainty: " + uncertainty);
        }
    }
}
