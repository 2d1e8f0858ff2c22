package dozo.source.tree;

import dozo.file.Malformed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rules for when an experiment is complete.
 *
 * @param quiet how long nothing in the folder may have changed, whatever the evidence says; 0 if a change just now is
 * allowed
 * @param alone how long without a change is enough if no evidence says anything; null if time alone is never enough
 * @param late how long without a change before a person must look at an incomplete experiment
 * @param evidence all of it must agree
 */
public record Rules(Duration quiet, @Nullable Duration alone, Duration late, List<Evidence> evidence) {

    private static final Duration QUIET = Duration.ofHours(1);
    private static final Duration ALONE = Duration.ofDays(3);
    private static final Duration LATE = Duration.ofDays(7);
    private static final Duration TIME_MAX = Duration.ofDays(366);
    private static final int EVIDENCE_MAX = 20;
    private static final Pattern TIME = Pattern.compile("(quiet|alone|late) ([0-9]{1,4})([mhd])");

    /** The rules for an origin that states none. */
    public static final Rules USUAL =
            new Rules(QUIET, ALONE, LATE, List.of(new Evidence.DicomCounts(0), new Evidence.BidsFiles()));

    public Rules {
        evidence = List.copyOf(evidence);
        if (evidence.size() > EVIDENCE_MAX) {
            throw new Malformed("expected at most %d", EVIDENCE_MAX);
        }
        if (evidence.isEmpty() && alone == null) {
            alone = quiet;
        }
        if (alone != null && alone.compareTo(quiet) < 0) {
            throw new Malformed("alone: expected at least the quiet period");
        }
        if (late.compareTo(alone == null ? quiet : alone) < 0) {
            throw new Malformed("late: expected at least the other periods");
        }
    }

    /**
     * Parses rules, one per text; an empty list gives the usual ones.
     *
     * @throws Malformed if a text is not a rule; the message says what was expected
     */
    public static Rules of(List<String> texts) {
        if (texts.isEmpty()) {
            return USUAL;
        }
        Duration quiet = QUIET;
        Duration alone = null;
        Duration late = LATE;
        List<Evidence> evidence = new ArrayList<>();
        for (String text : texts) {
            Matcher time = TIME.matcher(text);
            if (!time.matches()) {
                evidence.add(evidence(text));
                continue;
            }
            Duration duration = duration(time.group(1), time.group(2), time.group(3));
            switch (time.group(1)) {
                case "quiet" -> quiet = duration;
                case "alone" -> alone = duration;
                default -> late = duration;
            }
        }
        return new Rules(quiet, alone, longer(late, longer(quiet, alone)), evidence);
    }

    private static Duration longer(Duration one, @Nullable Duration other) {
        return other == null || one.compareTo(other) >= 0 ? one : other;
    }

    private static Evidence evidence(String text) {
        return Evidence.of(text)
                .orElseThrow(() -> new Malformed(
                        "\"%s\": expected quiet 1h, alone 72h, late 7d, marker NAME, expect N NAME, dicom, dicom N or bids",
                        text));
    }

    private static Duration duration(String what, String count, String unit) {
        long n = Long.parseLong(count);
        Duration duration = switch (unit) {
            case "m" -> Duration.ofMinutes(n);
            case "h" -> Duration.ofHours(n);
            default -> Duration.ofDays(n);
        };
        if ((duration.isZero() && !what.equals("quiet")) || duration.compareTo(TIME_MAX) > 0) {
            throw new Malformed("%s %s%s: expected 1m to 366d, or quiet 0m", what, count, unit);
        }
        return duration;
    }

    <E extends Evidence> Optional<E> find(Class<E> kind) {
        return evidence.stream().filter(kind::isInstance).map(kind::cast).findFirst();
    }

    /** Returns the rules as texts that {@link #of} accepts. */
    public List<String> texts() {
        List<String> texts = new ArrayList<>();
        texts.add("quiet " + text(quiet));
        if (alone != null) {
            texts.add("alone " + text(alone));
        }
        texts.add("late " + text(late));
        evidence.forEach(each -> texts.add(each.toString()));
        return List.copyOf(texts);
    }

    static String text(Duration duration) {
        if (duration.toMinutes() % 60 != 0) {
            return duration.toMinutes() + "m";
        }
        return duration.toHours() % 24 == 0 && !duration.isZero() ? duration.toDays() + "d" : duration.toHours() + "h";
    }
}
