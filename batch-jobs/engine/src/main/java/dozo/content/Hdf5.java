package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * HDF5 (HDF5 File Format Specification 3.0, section II.A; NWB, SNIRF, MINC 2 and files of MATLAB 7.3 are such): the superblock
 * says where the file ends, and from version 2 on has a checksum. Longer files are legal. Changes behind the superblock are
 * invisible. A file may be one of several that belong together (the drivers family and multi): then nobody knows.
 */
final class Hdf5 implements Format {

    private static final String SIGNATURE = "\u0089HDF\r\n\u001A\n";

    /** What the signature becomes if its line ends are changed. */
    private static final String[] AS_TEXT = {
        "\u0089HDF\n\u001A\n", "\u0089HDF\r\n\u001A\r\n", "\u0089HDF\r\r\n\u001A\r\n"
    };

    private static final int SIGNATURE_BYTES = 8;

    /** The version of the superblock and all that says how long it is. */
    private static final int START_BYTES = 4;

    private static final String MATLAB = "MATLAB 7.3 MAT-file";
    private static final int MATLAB_BLOCK_BYTES = 512;

    @Override
    public @Nullable Check check(Beginning file) {
        String format = file.has(0, MATLAB) ? "MATLAB 7.3" : "HDF5";
        // A block for the user may come first: 512 bytes, or twice as many, and so on.
        for (int at = 0; at < Beginning.BYTES; at = Math.max(MATLAB_BLOCK_BYTES, 2 * at)) {
            if (file.has(at, SIGNATURE)) {
                return new Superblock(format, at);
            }
        }
        for (String text : AS_TEXT) {
            if (file.has(0, text)) {
                return new Damaged(format, "the line ends in its signature were changed: it was transferred as text");
            }
        }
        return file.has(0, MATLAB) ? new Damaged(format, "its HDF5 signature at byte 512 is damaged or absent") : null;
    }

    /** A file that already its beginning shows to be broken. */
    private static final class Damaged extends Check {

        private final String why;

        Damaged(String format, String why) {
            super(format);
            this.why = why;
            want(1);
        }

        @Override
        void part(ByteBuffer bytes) throws NotWhole {
            throw NotWhole.broken(why);
        }
    }

    private static final class Superblock extends Check {

        /** From this version on there are a checksum, flags and an extension. */
        private static final int CHECKED = 2;

        private static final int VERSION_MAX = 3;

        /** Somebody writes the file: alone, or while others read. */
        private static final int OPEN = 1 | 4;

        private final int signatureAt;
        private int version = -1;
        private int addressBytes;
        private ByteBuffer start = ByteBuffer.allocate(0);
        private long end = -1;
        private boolean extended;

        Superblock(String format, int signatureAt) {
            super(format);
            this.signatureAt = signatureAt;
            skip(signatureAt);
            want(SIGNATURE_BYTES + START_BYTES + 4);
        }

        @Override
        void part(ByteBuffer bytes) throws NotWhole {
            bytes.order(ByteOrder.LITTLE_ENDIAN);
            if (version < 0) {
                begin(bytes);
            } else {
                superblock(bytes);
            }
        }

        private void begin(ByteBuffer bytes) throws NotWhole {
            version = bytes.get(SIGNATURE_BYTES);
            addressBytes = bytes.get(version < CHECKED ? 13 : 9);
            if (version < 0 || version > VERSION_MAX || (addressBytes != 4 && addressBytes != 8)) {
                throw NotWhole.unknown();
            }
            start = ByteBuffer.allocate(bytes.limit()).put(bytes.duplicate()).flip();
            want(length() - bytes.limit());
        }

        /** Returns how long the superblock is, up to its last address or its checksum. */
        private int length() {
            return base() + 4 * addressBytes + (version < CHECKED ? 0 : 4);
        }

        /** Returns where the base address is: the first of four. */
        private int base() {
            return switch (version) {
                case 0 -> 24;
                case 1 -> 28;
                default -> 12;
            };
        }

        private void superblock(ByteBuffer bytes) throws NotWhole {
            ByteBuffer block = ByteBuffer.allocate(length()).order(ByteOrder.LITTLE_ENDIAN);
            block.put(start).put(bytes).flip();
            if (version >= CHECKED && block.getInt(length() - 4) != Lookup3.hash(block, length() - 4)) {
                throw NotWhole.broken("its superblock does not have its checksum");
            }
            if (version > CHECKED && (block.get(11) & OPEN) != 0) {
                throw NotWhole.suspect("it was still open for writing");
            }
            extended = version >= CHECKED && isDefined(address(block, 1));
            boolean driver = version < CHECKED && isDefined(address(block, 3));
            long stored = address(block, 2);
            if (driver || !isDefined(stored)) {
                throw NotWhole.unknown("the file does not say where it ends");
            }
            end = stored - address(block, 0) + signatureAt;
            if (stored < 0 || end < position()) {
                throw NotWhole.unknown();
            }
            skip(end - position());
        }

        private long address(ByteBuffer block, int number) {
            int at = base() + number * addressBytes;
            return addressBytes == 8 ? block.getLong(at) : block.getInt(at);
        }

        private static boolean isDefined(long address) {
            return address != -1;
        }

        @Override
        void end(long left) throws NotWhole {
            if (left == 0) {
                return;
            }
            if (end < 0) {
                throw NotWhole.broken("it ends after %,d bytes, in the middle of its superblock".formatted(position()));
            }
            String why = "its header says %,d bytes, the file has %,d".formatted(end, position());
            // The extension of the superblock may say that more files belong to it. Such files are short.
            throw extended ? NotWhole.suspect(why) : NotWhole.broken(why);
        }
    }

    /** The hash function lookup3 of Bob Jenkins (hashlittle, 2006), for words of four bytes, which HDF5 uses as checksum. */
    static final class Lookup3 {

        private static final int START = 0xDEADBEEF;
        private static final int[] MIX = {4, 6, 8, 16, 19, 4};
        private static final int[] LAST = {14, 11, 25, 16, 4, 14, 24};

        private Lookup3() {}

        static int hash(ByteBuffer bytes, int length) {
            int[] state = {START + length, START + length, START + length};
            int at = 0;
            for (; length - at > 12; at += 12) {
                for (int i = 0; i < 3; i++) {
                    state[i] += bytes.getInt(at + 4 * i);
                }
                mix(state);
            }
            for (int i = 0; at < length; i++, at += 4) {
                state[i] += bytes.getInt(at);
            }
            return last(state);
        }

        /** a -= c, a ^= c rotated, c += b; then the same for b, c and so on in turn. */
        private static void mix(int[] s) {
            for (int i = 0; i < MIX.length; i++) {
                int a = i % 3;
                int b = (i + 1) % 3;
                int c = (i + 2) % 3;
                s[a] -= s[c];
                s[a] ^= Integer.rotateLeft(s[c], MIX[i]);
                s[c] += s[b];
            }
        }

        /** c ^= b, c -= b rotated; then the same for a and c, b and a, and so on. */
        private static int last(int[] s) {
            for (int i = 0; i < LAST.length; i++) {
                int to = (i + 2) % 3;
                int from = (i + 1) % 3;
                s[to] ^= s[from];
                s[to] -= Integer.rotateLeft(s[from], LAST[i]);
            }
            return s[2];
        }
    }
}
