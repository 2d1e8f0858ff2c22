package dozo.source.dicom;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Value representations: two letters, stored as the number of their two bytes, first letter first. */
final class Vr {

    static final int SQ = of("SQ");
    static final int UN = of("UN");

    private static final Set<Integer> WITH_SHORT_LENGTH =
            all("AE AS AT CS DA DS DT FD FL IS LO LT PN SH SL SS ST TM UI UL US");
    private static final Set<Integer> WITH_LONG_LENGTH = all("OB OD OF OL OV OW SQ SV UC UN UR UT UV");
    private static final Set<Integer> NUMBERS = all("SL SS UL US");

    private Vr() {}

    static boolean isKnown(int vr) {
        return WITH_SHORT_LENGTH.contains(vr) || WITH_LONG_LENGTH.contains(vr);
    }

    /**
     * Returns whether a 4-byte length follows two reserved bytes. By the standard this also holds for VRs added later.
     */
    static boolean hasLongLength(int vr) {
        return WITH_LONG_LENGTH.contains(vr) || (isLetters(vr) && !WITH_SHORT_LENGTH.contains(vr));
    }

    static boolean isNumber(int vr) {
        return NUMBERS.contains(vr);
    }

    static boolean isLetters(int vr) {
        return isBetween(vr, 'A', 'Z');
    }

    /**
     * Returns whether both bytes are printable. Machines that do not know the VR write, for example, "??": this is
     * still a VR, not a length.
     */
    static boolean isPrintable(int vr) {
        return isBetween(vr, ' ', '~');
    }

    private static boolean isBetween(int vr, char low, char high) {
        int first = vr >> 8;
        int second = vr & 0xFF;
        return first >= low && first <= high && second >= low && second <= high;
    }

    private static int of(String letters) {
        return (letters.charAt(0) << 8) | letters.charAt(1);
    }

    private static Set<Integer> all(String names) {
        return Stream.of(names.split(" ")).map(Vr::of).collect(Collectors.toUnmodifiableSet());
    }
}
