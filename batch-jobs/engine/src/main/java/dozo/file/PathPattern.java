package dozo.file;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * A pattern for paths below a root, over their bytes. {@code *} matches any bytes of one name, {@code ?} one byte of a
 * name, {@code [a-z]} one of these bytes and {@code [!a-z]} any other byte of a name; {@code **} matches any bytes of a
 * path, and the folders {@code **}{@code /} may be none. A backslash makes the next byte literal. A pattern without {@code **}
 * and without a slash is compared with names, in whatever folder; any other with the whole path.
 *
 * <p>Matching takes time in proportion to the product of both lengths, whatever the pattern.
 */
public final class PathPattern {

    /** The longest pattern. */
    public static final int BYTES_MAX = 1_000;

    private static final int BYTE_VALUES = 256;

    /** What {@code **}{@code /} consists of: a step to jump from, the stars, and the slash. */
    private static final int FOLDERS_STEPS = 3;

    private final byte[] text;
    private final boolean ofNames;
    private final List<Step> steps = new ArrayList<>();

    /**
     * A step of the pattern.
     *
     * @param bytes what it accepts
     * @param repeats whether it accepts any number of them, also none
     * @param jump the number of steps to go on if it accepts none
     */
    private record Step(BitSet bytes, boolean repeats, int jump) {}

    /**
     * Returns the pattern with these bytes.
     *
     * @throws Malformed if it is not a pattern for paths below a root
     */
    public static PathPattern of(byte[] text) {
        return new PathPattern(text.clone());
    }

    private PathPattern(byte[] text) {
        this.text = text;
        int start = text.length > 0 && text[0] == '/' ? 1 : 0;
        int end = text.length > start && text[text.length - 1] == '/' ? text.length - 1 : text.length;
        byte[] inner = Arrays.copyOfRange(text, start, end);
        if (text.length > BYTES_MAX) {
            throw new Malformed("expected a pattern of at most %d bytes", BYTES_MAX);
        }
        try {
            if (FilePath.of(inner).isRoot()) {
                throw malformed();
            }
        } catch (IllegalArgumentException e) {
            throw malformed();
        }
        for (int at = 0; at < inner.length; ) {
            at = parse(inner, at);
        }
        ofNames = start == 0
                && FilePath.of(inner).parent().isRoot()
                && !toString().contains("**");
    }

    private int parse(byte[] pattern, int at) {
        return switch (pattern[at]) {
            case '*' -> parseStars(pattern, at);
            case '?' -> add(nameBytes(), false, at + 1);
            case '[' -> parseClass(pattern, at + 1);
            case '\\' -> add(only(escaped(pattern, at)), false, at + 2);
            default -> add(only(pattern[at]), false, at + 1);
        };
    }

    private int parseStars(byte[] pattern, int at) {
        int end = at;
        while (end < pattern.length && pattern[end] == '*') {
            end++;
        }
        if (end - at == 1) {
            return add(nameBytes(), true, end);
        }
        boolean wholeName = at == 0 || pattern[at - 1] == '/';
        if (wholeName && end < pattern.length && pattern[end] == '/') {
            steps.add(new Step(new BitSet(), true, FOLDERS_STEPS));
        }
        BitSet all = new BitSet();
        all.set(0, BYTE_VALUES);
        return add(all, true, end);
    }

    private int parseClass(byte[] pattern, int start) {
        int at = start;
        boolean others = at < pattern.length && (pattern[at] == '!' || pattern[at] == '^');
        at += others ? 1 : 0;
        BitSet bytes = new BitSet();
        int first = at;
        while (at < pattern.length && (pattern[at] != ']' || at == first)) {
            if (pattern[at] == '[' && at + 1 < pattern.length && pattern[at + 1] == ':') {
                throw new Malformed("\"%s\": classes such as [:digit:] are not supported; expected [0-9]", this);
            }
            boolean escaped = pattern[at] == '\\';
            int low = (escaped ? escaped(pattern, at) : pattern[at]) & 0xff;
            at += escaped ? 2 : 1;
            int high = low;
            if (at + 1 < pattern.length && pattern[at] == '-' && pattern[at + 1] != ']') {
                boolean escapedEnd = pattern[at + 1] == '\\';
                high = (escapedEnd ? escaped(pattern, at + 1) : pattern[at + 1]) & 0xff;
                at += escapedEnd ? 3 : 2;
            }
            if (high < low) {
                throw new Malformed("\"%s\": expected a range such as [a-z], with the lower end first", this);
            }
            bytes.set(low, high + 1);
        }
        if (at >= pattern.length) {
            throw new Malformed("\"%s\": the ] of a class is missing; expected \\[ for the character itself", this);
        }
        if (others) {
            bytes.flip(0, BYTE_VALUES);
        }
        bytes.clear('/');
        return add(bytes, false, at + 1);
    }

    private byte escaped(byte[] pattern, int backslash) {
        if (backslash + 1 >= pattern.length) {
            throw new Malformed("\"%s\": expected another character after the backslash", this);
        }
        return pattern[backslash + 1];
    }

    private int add(BitSet bytes, boolean repeats, int next) {
        steps.add(new Step(bytes, repeats, 1));
        return next;
    }

    private static BitSet only(byte one) {
        BitSet bytes = new BitSet();
        bytes.set(one & 0xff);
        return bytes;
    }

    private static BitSet nameBytes() {
        BitSet bytes = new BitSet();
        bytes.set(0, BYTE_VALUES);
        bytes.clear('/');
        return bytes;
    }

    private Malformed malformed() {
        return new Malformed("\"%s\": expected a pattern for paths below the folder, such as *.nii or anat/**", this);
    }

    /** Returns whether a path matches. Whatever is in a matching folder does not match by that. */
    public boolean matches(FilePath path) {
        byte[] bytes = ofNames ? path.name() : path.bytes();
        BitSet at = new BitSet();
        at.set(0);
        withoutBytes(at);
        for (int i = 0; i < bytes.length && !at.isEmpty(); i++) {
            BitSet next = new BitSet();
            for (int s = at.nextSetBit(0); s >= 0 && s < steps.size(); s = at.nextSetBit(s + 1)) {
                Step step = steps.get(s);
                if (step.bytes.get(bytes[i] & 0xff)) {
                    next.set(step.repeats ? s : s + 1);
                }
            }
            withoutBytes(next);
            at = next;
        }
        return at.get(steps.size());
    }

    /** Adds the steps that are reached without another byte. */
    private void withoutBytes(BitSet at) {
        for (int s = at.nextSetBit(0); s >= 0 && s < steps.size(); s = at.nextSetBit(s + 1)) {
            Step step = steps.get(s);
            if (step.repeats) {
                at.set(s + 1);
                at.set(s + step.jump);
            }
        }
    }

    /** Returns a copy of the bytes. */
    public byte[] bytes() {
        return text.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PathPattern pattern && Arrays.equals(text, pattern.text);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(text);
    }

    /** Returns a rendering for people, see {@link FilePath#render}. */
    @Override
    public String toString() {
        return FilePath.render(text);
    }
}
