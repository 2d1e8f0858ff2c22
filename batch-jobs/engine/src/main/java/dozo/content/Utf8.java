package dozo.content;

/** UTF-8 (RFC 3629) byte by byte, without overlong forms, surrogates and characters beyond the last one. */
final class Utf8 {

    /** How many bytes of the character have not come, and between what the next one lies. */
    private int more;

    private int low;
    private int high;

    /** Takes the next byte; returns false if it is not UTF-8. */
    boolean take(byte next) {
        int value = Byte.toUnsignedInt(next);
        if (more == 0) {
            return value < 0x80 || begin(value);
        }
        boolean right = value >= low && value <= high;
        more--;
        low = 0x80;
        high = 0xBF;
        return right;
    }

    private boolean begin(int value) {
        more = value < 0xE0 ? 1 : value < 0xF0 ? 2 : 3;
        low = value == 0xE0 ? 0xA0 : value == 0xF0 ? 0x90 : 0x80;
        high = value == 0xED ? 0x9F : value == 0xF4 ? 0x8F : 0xBF;
        return value >= 0xC2 && value <= 0xF4;
    }
}
