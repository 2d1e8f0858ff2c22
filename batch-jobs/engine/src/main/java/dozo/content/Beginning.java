package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The beginning of a file, by which formats know their own.
 *
 * @param bytes the first {@value #BYTES} bytes, or all if the file is shorter, from 0 to the limit
 * @param sizeBytes of the whole file; {@link #SIZE_UNKNOWN}: it is the content of another one
 * @param name the last part of its path, for people; formats without a magic number use its ending
 */
record Beginning(ByteBuffer bytes, long sizeBytes, String name) {

    static final int BYTES = 4_096;
    static final long SIZE_UNKNOWN = -1;

    /** Returns whether these characters are at this offset. */
    boolean has(int offset, String latin) {
        byte[] wanted = latin.getBytes(StandardCharsets.ISO_8859_1);
        if (offset + wanted.length > bytes.limit()) {
            return false;
        }
        for (int i = 0; i < wanted.length; i++) {
            if (bytes.get(offset + i) != wanted[i]) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether there are so many bytes. */
    boolean reaches(int count) {
        return bytes.limit() >= count;
    }

    /** Returns the bytes in this order, from 0 to the limit; absolute reads only. */
    ByteBuffer in(ByteOrder order) {
        return bytes.duplicate().order(order);
    }

    /** Returns the name with another ending, in the same case of letters. */
    String withEnding(String lower) {
        int dot = name.lastIndexOf('.') + 1;
        boolean upper = name.substring(dot).equals(name.substring(dot).toUpperCase(Locale.ROOT));
        return name.substring(0, dot) + (upper ? lower.toUpperCase(Locale.ROOT) : lower);
    }

    /** Returns whether the name ends so, in any case of letters. */
    boolean isNamed(String ending) {
        return name.regionMatches(true, name.length() - ending.length(), ending, 0, ending.length());
    }
}
