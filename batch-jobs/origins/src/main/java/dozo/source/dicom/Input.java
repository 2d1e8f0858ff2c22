package dozo.source.dicom;

import dozo.source.dicom.Damaged.Damage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * The bytes of a header in order, with look-ahead. Holds at most {@link #AHEAD_BYTES_MAX}, whatever lengths a file
 * states; skipped bytes of a file are not read.
 */
abstract class Input {

    /** The longest look-ahead, and the longest value taken at once. */
    static final int AHEAD_BYTES_MAX = 16 * 1024;

    private final byte[] buffer;
    private int start;
    private int end;
    private long offset;

    /** Reads at an offset until the buffer is full or the file ends. */
    interface Reader {
        void read(ByteBuffer into, long offset) throws IOException;
    }

    private Input(byte[] buffer) {
        if (buffer.length != AHEAD_BYTES_MAX) {
            throw new IllegalArgumentException("a buffer of " + buffer.length + " bytes");
        }
        this.buffer = buffer;
    }

    /** Returns the input of a file with this size. */
    static Input ofFile(Reader file, long sizeBytes, byte[] buffer) {
        return new Input(buffer) {
            @Override
            int read(byte[] into, int at, int length, long from) throws IOException {
                ByteBuffer room = ByteBuffer.wrap(into, at, length);
                file.read(room, from);
                return room.position() - at;
            }

            @Override
            boolean pass(long bytes, long from) {
                return bytes <= sizeBytes - from;
            }
        };
    }

    /** Returns the input of a stream of unknown length, which is not closed. */
    static Input ofStream(InputStream stream, byte[] buffer) {
        return new Input(buffer) {
            @Override
            int read(byte[] into, int at, int length, long from) throws IOException {
                return stream.readNBytes(into, at, length);
            }

            @Override
            boolean pass(long bytes, long from) throws IOException {
                try {
                    stream.skipNBytes(bytes);
                    return true;
                } catch (java.io.EOFException endsBefore) {
                    return false;
                }
            }
        };
    }

    /** Returns the rest of another input, inflated. It ends with the deflated data, whatever follows them. */
    static Input inflated(Input deflated, Inflater inflater, long bytesMax, byte[] buffer) {
        return new Input(buffer) {
            @Override
            int read(byte[] into, int at, int length, long from) throws IOException, Malformed {
                int done = 0;
                while (done < length && !inflater.finished()) {
                    if (inflater.needsInput() && !deflated.feed(inflater)) {
                        return done;
                    }
                    int n = inflate(into, at + done, length - done, from + done);
                    if (n == 0 && inflater.needsDictionary()) {
                        throw new Malformed(Damage.NOT_DEFLATED, from + done);
                    }
                    done += n;
                    if (from + done > bytesMax) {
                        throw new Malformed(Damage.TOO_MUCH, from + done);
                    }
                }
                return done;
            }

            private int inflate(byte[] into, int at, int length, long from) throws Malformed {
                try {
                    return inflater.inflate(into, at, length);
                } catch (DataFormatException e) {
                    throw new Malformed(Damage.NOT_DEFLATED, from);
                }
            }

            @Override
            boolean pass(long bytes, long from) throws IOException, Malformed {
                byte[] thrownAway = new byte[(int) Math.min(bytes, AHEAD_BYTES_MAX)];
                long passed = 0;
                while (passed < bytes) {
                    int n = read(thrownAway, 0, (int) Math.min(bytes - passed, thrownAway.length), from + passed);
                    if (n == 0) {
                        return false;
                    }
                    passed += n;
                }
                return true;
            }
        };
    }

    /** Fills this part of the array, or less if the input ends. */
    abstract int read(byte[] into, int at, int length, long from) throws IOException, Malformed;

    /** Passes over bytes; returns whether there were so many. */
    abstract boolean pass(long bytes, long from) throws IOException, Malformed;

    /** Returns the current position in bytes from the start. */
    final long offset() {
        return offset;
    }

    /** Makes bytes available for look-ahead; returns whether there are so many. */
    final boolean has(int bytes) throws IOException, Malformed {
        if (bytes > AHEAD_BYTES_MAX) {
            throw new IllegalArgumentException("looks " + bytes + " bytes ahead");
        }
        if (end - start < bytes) {
            System.arraycopy(buffer, start, buffer, 0, end - start);
            end -= start;
            start = 0;
            end += read(buffer, end, buffer.length - end, offset + end);
        }
        return end - start >= bytes;
    }

    /** Returns a byte that {@link #has} has made available. */
    final int byteAt(int ahead) {
        if (start + ahead >= end) {
            throw new IllegalStateException("nobody asked whether there is a byte " + ahead);
        }
        return buffer[start + ahead] & 0xFF;
    }

    final int shortAt(int ahead, boolean bigEndian) {
        int first = byteAt(ahead);
        int second = byteAt(ahead + 1);
        return bigEndian ? (first << 8) | second : (second << 8) | first;
    }

    final int intAt(int ahead, boolean bigEndian) {
        int first = shortAt(ahead, bigEndian);
        int second = shortAt(ahead + 2, bigEndian);
        return bigEndian ? (first << 16) | second : (second << 16) | first;
    }

    /** Returns the next bytes and moves past them; at most {@link #AHEAD_BYTES_MAX}. */
    final byte[] take(int bytes) throws IOException, Malformed {
        if (!has(bytes)) {
            throw new Malformed(Damage.CUT_OFF, offset);
        }
        byte[] taken = new byte[bytes];
        System.arraycopy(buffer, start, taken, 0, bytes);
        start += bytes;
        offset += bytes;
        return taken;
    }

    final void skip(long bytes) throws IOException, Malformed {
        int here = (int) Math.min(bytes, end - start);
        if (bytes > here && !pass(bytes - here, offset + here)) {
            throw new Malformed(Damage.CUT_OFF, offset);
        }
        if (bytes > here) {
            start = 0;
            end = 0;
        } else {
            start += here;
        }
        offset += bytes;
    }

    private boolean feed(Inflater inflater) throws IOException, Malformed {
        if (!has(1)) {
            return false;
        }
        // The inflater keeps no copy of the buffer. The buffer is refilled only after the inflater has used all of it
        // and asks for more.
        inflater.setInput(buffer, start, end - start);
        offset += end - start;
        start = end;
        return true;
    }
}
