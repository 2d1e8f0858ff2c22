package dozo.source.tree;

import dozo.source.tree.Observed.Reason;
import dozo.source.tree.Observed.Said;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether all of an experiment is there: by what is seen now, what was seen before, the rules and the clock, and by nothing else.
 *
 * <p>Never as long as any evidence says that something is missing, a name is temporary, something cannot be read, or something changed
 * within the quiet period. Then when some evidence says that all is there. Time alone counts only where none says anything.
 */
public final class Completeness {

    private Completeness() {}

    /**
     * What was seen, to be kept until the next look.
     *
     * @param since nothing has changed since then, as far as is known
     * @param at when it was looked at
     */
    public record Seen(long files, long bytes, long digest, Instant since, Instant at) {}

    /**
     * What is to be thought of it.
     *
     * @param reasons why it is not complete; none: it is
     * @param wrong whether a person should look: it was said to be complete and is not, cannot be read, or will hardly be any more
     */
    public record Verdict(Seen seen, List<Reason> reasons, boolean wrong) {

        public boolean isComplete() {
            return reasons.isEmpty();
        }
    }

    /** Judges. */
    public static Verdict judge(Observed now, @Nullable Seen before, Rules rules, Instant at) {
        Seen seen = new Seen(now.files(), now.bytes(), now.digest(), since(now, before, at), at);
        Duration still = Duration.between(seen.since(), at);
        List<Reason> reasons = new ArrayList<>(now.unreadable());
        if (now.files() == 0) {
            reasons.add(new Reason("EMPTY", "the folder", "no file has come yet"));
        }
        List<Reason> missing = missing(now);
        reasons.addAll(missing);
        boolean quiet = still.compareTo(rules.quiet()) >= 0;
        if (!quiet) {
            reasons.add(new Reason(
                    "CHANGING",
                    "the folder",
                    "something changed %s ago; it has to stay as it is for %s"
                            .formatted(ago(still), Rules.text(rules.quiet()))));
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
                ? "nothing in it says that it is all here, and time alone is not enough"
                : "nothing in it says that it is all here; it stayed as it is for %s, and %s are enough"
                        .formatted(ago(still), Rules.text(alone));
        return new Reason("NO_EVIDENCE", "the folder", message);
    }

    private static String ago(Duration still) {
        return "%d h %02d min".formatted(still.toHours(), still.toMinutesPart());
    }

    /**
     * Since when nothing changed. The file system's clock is believed where it fits to ours: between two looks if there is a
     * difference, before this one if there is none.
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
