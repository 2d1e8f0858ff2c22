package dozo.source.dicom;

import java.util.ArrayList;
import java.util.List;

/** Values stored as binary numbers of two or four bytes. */
final class Numbers {

    private static final int UL = ('U' << 8) | 'L';
    private static final int SL = ('S' << 8) | 'L';
    private static final int SS = ('S' << 8) | 'S';

    private Numbers() {}

    /** Returns the numbers as decimal digits. Text in place of numbers is read as text. */
    static Value value(Elements.Raw raw) {
        if (raw.vr() != 0 && raw.vr() != Vr.UN && !Vr.isNumber(raw.vr())) {
            return Plain.value(raw.bytes());
        }
        int size = raw.vr() == UL || raw.vr() == SL ? Integer.BYTES : Short.BYTES;
        List<String> texts = new ArrayList<>();
        for (int at = 0; at + size <= raw.bytes().length; at += size) {
            texts.add(Long.toString(number(raw, at, size)));
        }
        return new Value(raw.bytes(), List.copyOf(texts), raw.bytes().length % size == 0);
    }

    private static long number(Elements.Raw raw, int at, int size) {
        long number = 0;
        for (int i = 0; i < size; i++) {
            int from = raw.bigEndian() ? at + i : at + size - 1 - i;
            number = (number << 8) | (raw.bytes()[from] & 0xFF);
        }
        if (raw.vr() == SS) {
            return (short) number;
        }
        return raw.vr() == SL ? (int) number : number;
    }
}
