package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * MATLAB 5 (MAT-File Format, MathWorks, chapter 1; files of MATLAB 7.3 are HDF5): a header, then elements up to the end of the
 * file, usually compressed and with a checksum (Adler-32). Without compression, a changed byte of the data is invisible.
 */
final class Matlab implements Format {

    private static final int HEADER_BYTES = 128;

    @Override
    public @Nullable Check check(Beginning file) {
        boolean little = file.has(124, "\0\1IM");
        boolean big = file.has(124, "\1\0MI");
        boolean text = file.reaches(HEADER_BYTES)
                && file.bytes().get(0) >= ' '
                && file.bytes().get(3) >= ' ';
        return text && (little || big)
                ? new Elements(little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN, file.sizeBytes())
                : null;
    }

    private static final class Elements extends Check {

        private static final int TAG_BYTES = 8;
        private static final int COMPRESSED = 15;
        private static final int TYPE_MAX = 18;

        private final ByteOrder order;
        private final long sizeBytes;
        private @Nullable Unpacking unpacking;
        private long number;

        /** How many bytes of a compressed element have not come. */
        private long packedBytes;

        /** The last element had a length that is no multiple of 8. Programs differ in where they begin the next one. */
        private boolean adrift;

        Elements(ByteOrder order, long sizeBytes) {
            super("MATLAB 5");
            this.order = order;
            this.sizeBytes = sizeBytes;
            skip(HEADER_BYTES);
            want(TAG_BYTES);
        }

        @Override
        void part(ByteBuffer tag) throws NotWhole {
            tag.order(order);
            int type = tag.getInt(0);
            long bytes = Integer.toUnsignedLong(tag.getInt(4));
            number++;
            if (adrift) {
                throw NotWhole.unknown();
            }
            if (type == 0) {
                throw NotWhole.broken("it has zeros in place of element %,d".formatted(number));
            }
            if (type >>> Short.SIZE != 0) {
                smallElement(type);
            } else if (type > TYPE_MAX) {
                throw noType();
            } else if (type == COMPRESSED && bytes > 0) {
                packedBytes = bytes;
                unpacking().begin();
            } else {
                adrift = bytes % TAG_BYTES != 0;
                skip(bytes);
                want(TAG_BYTES);
            }
        }

        /** Up to four bytes of data are in the tag, with their number in its first half. */
        private void smallElement(int tag) throws NotWhole {
            int type = tag & 0xFFFF;
            if (type == 0 || type > TYPE_MAX || tag >>> Short.SIZE > 4) {
                throw noType();
            }
            want(TAG_BYTES);
        }

        private NotWhole noType() {
            return NotWhole.broken("the header of element %,d is damaged".formatted(number));
        }

        private Unpacking unpacking() {
            if (unpacking == null) {
                unpacking = new Unpacking(sizeBytes, true);
            }
            return unpacking;
        }

        @Override
        void stream(ByteBuffer bytes) throws NotWhole {
            int count = (int) Math.min(bytes.remaining(), packedBytes);
            ByteBuffer packed = bytes.slice(bytes.position(), count);
            boolean ended = unpack(packed);
            int used = packed.position();
            bytes.position(bytes.position() + used);
            packedBytes -= used;
            if (ended) {
                skip(packedBytes);
                want(TAG_BYTES);
            } else if (packedBytes == 0) {
                throw damaged();
            }
        }

        private boolean unpack(ByteBuffer packed) throws NotWhole {
            try {
                return unpacking().take(packed);
            } catch (DataFormatException e) {
                throw damaged();
            }
        }

        private NotWhole damaged() {
            close();
            return NotWhole.broken("the compressed data of element %,d is damaged".formatted(number));
        }

        private void close() {
            if (unpacking != null) {
                unpacking.close();
            }
        }

        @Override
        void end(long left) throws NotWhole {
            close();
            // Nothing is left only while compressed data is expected.
            if (left > TAG_BYTES || left == 0) {
                throw NotWhole.broken(
                        "it ends after %,d bytes, in the middle of element %,d".formatted(position(), number));
            }
            if (left < TAG_BYTES) {
                throw NotWhole.suspect("%,d spare bytes follow element %,d".formatted(TAG_BYTES - left, number));
            }
            if (number == 0) {
                throw NotWhole.suspect("it contains no data, only a header");
            }
        }
    }
}
