package dozo.content;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * tar (POSIX pax and ustar, GNU, and before): headers with checksums, each followed by its data, in blocks of 512 bytes. Two
 * blocks of zeros are the end, then anything may follow. Some programs write no end, which looks like a cut and is suspect. A
 * changed byte of the data is invisible.
 */
final class Tar implements Format {

    private static final int BLOCK_BYTES = 512;
    private static final int CHECKSUM_AT = 148;
    private static final int SIZE_AT = 124;
    private static final int TYPE_AT = 156;
    private static final int MAGIC_AT = 257;

    /** The length of its data in a pax header: it replaces the one in the header that follows. */
    private static final Pattern PAX_SIZE = Pattern.compile("(?:^|\\n)\\d+ size=(\\d{1,18})\\n");

    private static final Pattern OCTAL = Pattern.compile("[0-7]{1,12}");

    @Override
    public @Nullable Check check(Beginning file) {
        boolean magic = file.has(MAGIC_AT, "ustar\0") || file.has(MAGIC_AT, "ustar ");
        boolean old = file.reaches(BLOCK_BYTES) && file.bytes().get(0) != 0 && isHeader(file.bytes());
        return magic || old ? new Entries() : null;
    }

    /** Returns whether the checksum is right. Programs have added the bytes with and without sign. */
    private static boolean isHeader(ByteBuffer block) {
        long wanted = octal(block, CHECKSUM_AT, 8);
        long unsigned = 0;
        long signed = 0;
        for (int i = 0; i < BLOCK_BYTES; i++) {
            byte value = i >= CHECKSUM_AT && i < CHECKSUM_AT + 8 ? (byte) ' ' : block.get(i);
            unsigned += Byte.toUnsignedInt(value);
            signed += value;
        }
        return wanted == unsigned || wanted == signed;
    }

    /** Returns an octal number that ends with its field, a space or NUL; -1: it is none. */
    private static long octal(ByteBuffer block, int offset, int length) {
        String field = text(block, offset, length).strip();
        int end = field.indexOf('\0');
        String digits = (end < 0 ? field : field.substring(0, end)).strip();
        return OCTAL.matcher(digits).matches() ? Long.parseLong(digits, 8) : -1;
    }

    private static String text(ByteBuffer block, int offset, int length) {
        byte[] bytes = new byte[length];
        block.get(offset, bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static boolean isZero(ByteBuffer block) {
        for (int i = 0; i < BLOCK_BYTES; i++) {
            if (block.get(i) != 0) {
                return false;
            }
        }
        return true;
    }

    /** What the next part is. */
    private enum Step {
        HEADER,
        /** A header, or the data of a hard link: only pax gives it data, but old programs wrote a length, too. */
        HEADER_OR_DATA,
        SECOND_ZEROS,
        PAX,
        SPARSE,
        PASSED
    }

    private static final class Entries extends Check {

        private Step step = Step.HEADER;
        private long number;
        private long dataBytes;

        /** From the pax header before; -1: none. */
        private long paxBytes = -1;

        Entries() {
            super("tar");
            want(BLOCK_BYTES);
        }

        @Override
        void part(ByteBuffer bytes) throws NotWhole {
            switch (step) {
                case HEADER -> header(bytes);
                case HEADER_OR_DATA -> headerOrData(bytes);
                case SECOND_ZEROS -> secondZeros(bytes);
                case PAX -> pax(bytes);
                case SPARSE -> sparse(bytes.get(504) != 0);
                case PASSED -> throw new IllegalStateException();
            }
        }

        private void header(ByteBuffer block) throws NotWhole {
            if (isZero(block)) {
                next(Step.SECOND_ZEROS, 0, BLOCK_BYTES);
                return;
            }
            if (!isHeader(block)) {
                throw NotWhole.broken("the header of its entry %,d is damaged".formatted(number + 1));
            }
            number++;
            dataBytes = paxBytes >= 0 ? paxBytes : size(block);
            paxBytes = -1;
            char type = (char) block.get(TYPE_AT);
            switch (type) {
                case '1' -> next(dataBytes > 0 ? Step.HEADER_OR_DATA : Step.HEADER, 0, BLOCK_BYTES);
                case '2', '3', '4', '5', '6' -> next(Step.HEADER, 0, BLOCK_BYTES);
                case 'x', 'X' -> beginPax();
                case 'S' -> beginSparse(block);
                default -> next(Step.HEADER, padded(), BLOCK_BYTES);
            }
        }

        private static long size(ByteBuffer block) throws NotWhole {
            // With the first bit set it is a binary number (GNU and star), more than 8 bytes of which nobody needs.
            long size = block.get(SIZE_AT) == (byte) 0x80 && block.getInt(SIZE_AT) == 0x80000000
                    ? block.getLong(SIZE_AT + 4)
                    : octal(block, SIZE_AT, 12);
            boolean none = text(block, SIZE_AT, 12).replace('\0', ' ').isBlank();
            if ((size < 0 && !none) || size > Long.MAX_VALUE / 2) {
                throw NotWhole.unknown();
            }
            return Math.max(0, size);
        }

        private long padded() {
            return Math.ceilDiv(dataBytes, BLOCK_BYTES) * BLOCK_BYTES;
        }

        private void next(Step step, long skip, int want) {
            this.step = step;
            skip(skip);
            want(want);
        }

        private void beginPax() throws NotWhole {
            if (padded() == 0 || padded() > PART_BYTES_MAX) {
                throw NotWhole.unknown();
            }
            next(Step.PAX, 0, (int) padded());
        }

        private void pax(ByteBuffer records) {
            Matcher size = PAX_SIZE.matcher(text(records, 0, (int) dataBytes));
            paxBytes = size.find() ? Long.parseLong(size.group(1)) : -1;
            next(Step.HEADER, 0, BLOCK_BYTES);
        }

        /** A file with holes: GNU lists them in more blocks, while a flag says so. */
        private void beginSparse(ByteBuffer block) throws NotWhole {
            if (!text(block, MAGIC_AT, 6).equals("ustar ")) {
                throw NotWhole.unknown();
            }
            sparse(block.get(482) != 0);
        }

        private void sparse(boolean more) {
            next(more ? Step.SPARSE : Step.HEADER, more ? 0 : padded(), BLOCK_BYTES);
        }

        private void headerOrData(ByteBuffer block) throws NotWhole {
            if (isZero(block) || isHeader(block)) {
                header(block);
            } else {
                next(Step.HEADER, padded() - BLOCK_BYTES, BLOCK_BYTES);
            }
        }

        private void secondZeros(ByteBuffer block) throws NotWhole {
            if (!isZero(block)) {
                throw NotWhole.suspect("more follows after a single empty block behind entry %,d".formatted(number));
            }
            step = Step.PASSED;
        }

        @Override
        void end(long left) throws NotWhole {
            if (step == Step.PASSED) {
                return;
            }
            boolean border = left == BLOCK_BYTES && (step == Step.HEADER || step == Step.HEADER_OR_DATA);
            boolean inPadding = step == Step.HEADER && left > BLOCK_BYTES && left - BLOCK_BYTES <= padded() - dataBytes;
            if (border || inPadding || step == Step.SECOND_ZEROS) {
                throw NotWhole.suspect("it has no end after entry %,d".formatted(number));
            }
            boolean inHeader = step == Step.HEADER && left < BLOCK_BYTES;
            throw NotWhole.broken("it ends in the middle of entry %,d".formatted(inHeader ? number + 1 : number));
        }
    }
}
