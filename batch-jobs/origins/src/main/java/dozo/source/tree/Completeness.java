package dozo.source.tree;

import dozo.source.tree.Observed.Reason;
import dozo.source.tree.Observed.Said;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether an experiment is complete, from the current look, the last look, the rules and the clock alone.
 *
 * <p>An experiment is not complete while any evidence says that something is missing, a name is temporary, something
 * cannot be read, or something changed within the quiet period. Otherwise it is complete if some evidence says that
 * everything is there. Time alone counts only if no evidence says anything.
 */
public final class Completeness {

    private Completeness() {}

    /**
     * The result of a look, kept until the next look.
     *
     * @param since nothing is known to have changed since then
     * @param at when the look was made
     */
    public record Seen(long files, long bytes, long digest, Instant since, Instant at) {}

    /**
     * The verdict.
     *
     * @param reasons why the experiment is not complete; empty if it is
     * @param wrong whether a person should look: it is marked as complete but is not, cannot be read, or has not become
     * complete in time
     */
    public record Verdict(Seen seen, List<Reason> reasons, boolean wrong) {

        public boolean isComplete() {
            return reasons.isEmpty();
        }
    }

    public static Verdict judge(Observed now, @Nullable Seen before, Rules rules, Instant at) {
        Seen seen = new Seen(now.files(), now.bytes(), now.digest(), since(now, before, at), at);
        Duration still = Duration.between(seen.since(), at);
        List<Reason> reasons = new ArrayList<>(now.unreadable());
        if (now.files() == 0) {
            reasons.add(new Reason("EMPTY", "the folder", "contains no files yet"));
        }
        List<Reason> missing = missing(now);
        reasons.addAll(missing);
        boolean quiet = still.compareTo(rules.quiet()) >= 0;
        if (!quiet) {
            reasons.add(new Reason(
                    "CHANGING",
                    "the folder",
                    "last change %s ago; must be unchanged for %s".formatted(ago(still), Rules.text(rules.quiet()))));
        } else if (missing.isEmpty() && !isSaid(now) && !isEnough(still, rules.alone())) {
            reasons.add(silence(still, rules.alone()));
        }
        boolean wrong = !now.unreadable().isEmpty()
                || (!reasons.isEmpty() && still.compareTo(rules.late()) >= 0)
                || (quiet && !missing.isEmpty() && isMarked(now));
        return new Verdict(seen, List.copyOf(reasons), wrong);
    }

    private static List<Reason> missing(Observed now) {
        List<Reason> missing = new ArrayList<>();
        for (Said said : now.said()) {
            if (said instanceof Said.Lacking(List<Reason> reasons)) {
                missing.addAll(reasons);
            }
        }
        return missing;
    }

    private static boolean isSaid(Observed now) {
        return now.said().stream().anyMatch(Said.Done.class::isInstance);
    }

    private static boolean isMarked(Observed now) {
        return now.said().stream().anyMatch(said -> said instanceof Said.Done(boolean marked) && marked);
    }

    private static boolean isEnough(Duration still, @Nullable Duration alone) {
        return alone != null && still.compareTo(alone) >= 0;
    }

    private static Reason silence(Duration still, @Nullable Duration alone) {
        String message = alone == null
                ? "no evidence that it is complete, and time alone is not enough"
                : "no evidence that it is complete; unchanged for %s, counts as complete after %s"
                        .formatted(ago(still), Rules.text(alone));
        return new Reason("NO_EVIDENCE", "the folder", message);
    }

    private static String ago(Duration still) {
        return "%d h %02d min".formatted(still.toHours(), still.toMinutesPart());
    }

    /**
     * Returns since when nothing has changed. The file system's clock is trusted if it agrees with ours: the newest
     * time must be between the two looks if there is a difference, else before this look.
     */
    private static Instant since(Observed now, @Nullable Seen before, Instant at) {
        Instant newest = now.newest() == null || now.newest().isAfter(at) ? Instant.MIN : now.newest();
        if (before == null) {
            return newest.equals(Instant.MIN) ? at : newest;
        }
        boolean same =
                before.files() == now.files() && before.bytes() == now.bytes() && before.digest() == now.digest();
        if (same) {
            return newest.isAfter(before.since()) ? newest : before.since();
        }
        return newest.isAfter(before.at()) ? newest : at;
    }
}
