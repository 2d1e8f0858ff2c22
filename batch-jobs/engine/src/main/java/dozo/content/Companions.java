package dozo.content;

import dozo.content.Verdict.State;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The files that have the data which a header describes, or its next part, in the same folder. Their sizes say whether all of it
 * is there.
 *
 * @param names one for each part, as far as they exist, or the packed one, with {@value #PACKED}
 * @param headBytes at the begin of each that are no data
 * @param bytes of data that the header says; 0: it does not say it
 * @param unitBytes of a unit of data, such as a trial: some recorders stop after whole ones. 0: all of it is needed
 * @param ifMissing what the header is if none of them exists
 */
public record Companions(List<String> names, int headBytes, long bytes, long unitBytes, State ifMissing)
        implements Relation {

    static final String PACKED = ".gz";

    /** The size of what is no file, such as a link. */
    public static final long NO_FILE = -1;

    /** Stands for characters of a name that are no text. */
    private static final String NO_TEXT = "\uFFFD";

    /** Returns whether a file with this name may belong to a header. */
    public static boolean mayBe(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        String unpacked = lower.endsWith(PACKED) ? lower.substring(0, lower.length() - PACKED.length()) : lower;
        return unpacked.endsWith("meg4") || unpacked.endsWith(".img") || unpacked.endsWith(".fif");
    }

    /** Returns whether the names are known. */
    boolean areNamed() {
        return names.stream().noneMatch(name -> name.contains(NO_TEXT));
    }

    /**
     * Judges the header by the others.
     *
     * @param alone what it is by itself
     * @param sizes of those that exist, by name, in bytes; {@link #NO_FILE}: nobody knows
     */
    public Verdict judge(Verdict alone, Map<String, Long> sizes) {
        boolean known = sizes.entrySet().stream()
                .noneMatch(each -> each.getKey().endsWith(PACKED) || each.getValue() == NO_FILE);
        if (alone.state() != State.WHOLE || !known) {
            return alone;
        }
        if (sizes.isEmpty()) {
            return new Verdict(ifMissing, alone.format(), "%s is missing".formatted(names.getFirst()));
        }
        long found = sizes.values().stream()
                .mapToLong(size -> Math.max(0, size - headBytes))
                .sum();
        if (found >= bytes) {
            return alone;
        }
        return new Verdict(
                unitBytes > 0 && found % unitBytes == 0 ? State.SUSPECT : State.BROKEN,
                alone.format(),
                "it says %,d bytes of data, %s has %,d".formatted(bytes, String.join(" and ", sizes.keySet()), found));
    }
}
