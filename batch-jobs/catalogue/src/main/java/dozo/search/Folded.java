package dozo.search;

import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;

/**
 * Text in the one form in which it is compared: as people see it ({@link FilePath#render}), in lower case, and in Unicode's
 * form NFKC, so that full-width letters, and accents in a byte sequence of their own, are found too. Also names that are not
 * UTF-8 are found by what is shown of them.
 */
final class Folded {

    private Folded() {}

    static String of(byte[] name) {
        for (byte b : name) {
            if (b < ' ' || b == 0x7f) {
                return of(FilePath.render(name));
            }
        }
        return new String(name, StandardCharsets.US_ASCII).toLowerCase(Locale.ROOT);
    }

    static String of(String text) {
        return Normalizer.normalize(text, Normalizer.Form.NFKC).toLowerCase(Locale.ROOT);
    }

    /** Returns the words of a search, each to be found. */
    static List<String> words(String text) {
        return Arrays.stream(of(text).split("[\\s,]+"))
                .filter(word -> !word.isEmpty())
                .distinct()
                .toList();
    }

    /**
     * Adds the numbers of a text's parts to {@code grams}: each three bytes, and each four unless all are digits, because
     * numbered files have every four digits. Both share the numbers of {@code smallint}. A text contains a word only if it
     * has all numbers of the word.
     */
    static void gather(String folded, BitSet grams) {
        byte[] bytes = folded.getBytes(StandardCharsets.UTF_8);
        int last = 0;
        int digits = 0;
        for (int i = 0; i < bytes.length; i++) {
            last = (last << 8) | (bytes[i] & 0xff);
            digits = bytes[i] >= '0' && bytes[i] <= '9' ? digits + 1 : 0;
            if (i >= 2) {
                grams.set(number(last & 0xffffff));
            }
            if (i >= 3 && digits < 4) {
                grams.set(number(~last));
            }
        }
    }

    private static int number(int part) {
        return (part * 0x9E3779B1) >>> 16;
    }

    /** Returns the numbers as the database stores them. */
    static short[] stored(BitSet grams) {
        short[] stored = new short[grams.cardinality()];
        int n = 0;
        for (int gram = grams.nextSetBit(0); gram >= 0; gram = grams.nextSetBit(gram + 1)) {
            stored[n++] = (short) gram;
        }
        return stored;
    }
}
