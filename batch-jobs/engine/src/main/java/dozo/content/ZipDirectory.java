package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * What a zip archive says of its entries, added up in any order, so that headers and directory can be compared (PKWARE APPNOTE
 * 6.3.10, sections 4.3.7 to 4.3.16). Lengths and offsets are compared modulo 2³², because programs write longer archives without
 * zip64.
 */
final class ZipDirectory {

    static final int CENTRAL = 0x02014B50;
    static final int END = 0x06054B50;
    static final int END_64 = 0x06064B50;
    static final int LOCATOR_64 = 0x07064B50;

    /** May follow the entries of the directory, and counts as part of it. */
    static final int SIGNATURE = 0x05054B50;

    static final int SIGNATURE_BYTES = 6;

    static final int CENTRAL_BYTES = 46;
    static final int END_BYTES = 22;
    static final int END_64_BYTES = 56;
    static final int LOCATOR_BYTES = 20;

    static final int STORED = 0;
    static final int DEFLATED = 8;

    /** In place of numbers that zip64 keeps elsewhere. */
    static final long ELSEWHERE = 0xFFFF_FFFFL;

    private long count;
    private long contents;
    private int offsets;

    static int u16(ByteBuffer bytes, int at) {
        return Short.toUnsignedInt(bytes.getShort(at));
    }

    static long u32(ByteBuffer bytes, int at) {
        return Integer.toUnsignedLong(bytes.getInt(at));
    }

    long count() {
        return count;
    }

    void add(Entry entry) {
        count++;
        offsets += (int) entry.offset;
        long content = entry.packedBytes & ELSEWHERE;
        if (entry.isReadable()) {
            content = 31 * (31 * content + (entry.unpackedBytes & ELSEWHERE)) + entry.crc;
        }
        contents += content * content + content;
    }

    /** Compares the entries with those of the directory, which are so many bytes further on than it says. */
    void compare(ZipDirectory listed, int shift) throws NotWhole {
        if (count != listed.count) {
            // Programs leave the data of entries that were deleted.
            throw NotWhole.suspect(
                    "its directory lists %,d entries, where the file has %,d".formatted(listed.count, count));
        }
        if (contents != listed.contents || offsets != listed.offsets + (int) count * shift) {
            throw NotWhole.broken("its directory and the headers of its entries differ");
        }
    }

    /**
     * What an entry says of itself, in its header or in the directory.
     *
     * @param flags bit 0: encrypted, 3: lengths and checksum may follow the data, 13: parts of the headers are hidden
     */
    record Entry(int flags, int method, long crc, long packedBytes, long unpackedBytes, long offset) {

        private static final int ZIP_64 = 1;

        /** Reads what both headers have in the same order, from the flags on. */
        static Entry read(ByteBuffer header, int at, long offset) throws NotWhole {
            int flags = u16(header, at);
            if ((flags & (1 << 13)) != 0) {
                throw NotWhole.unknown("its directory is encrypted");
            }
            return new Entry(
                    flags,
                    u16(header, at + 2),
                    u32(header, at + 8),
                    u32(header, at + 12),
                    u32(header, at + 16),
                    offset);
        }

        boolean lengthsFollow() {
            return (flags & (1 << 3)) != 0;
        }

        /** Returns whether the data can be unpacked here. */
        boolean isReadable() {
            return (flags & 1) == 0 && (method == STORED || method == DEFLATED);
        }

        /** Returns it with the numbers that zip64 keeps in an extra field: in this order, and only those. */
        Entry with(ByteBuffer extra) {
            ByteBuffer fields = extra.order(ByteOrder.LITTLE_ENDIAN);
            for (int at = 0; at + 4 <= fields.limit(); at += 4 + u16(fields, at + 2)) {
                if (u16(fields, at) == ZIP_64) {
                    int length = Math.min(u16(fields, at + 2), fields.limit() - at - 4);
                    return withLong(fields.slice(at + 4, length).order(ByteOrder.LITTLE_ENDIAN));
                }
            }
            return this;
        }

        private Entry withLong(ByteBuffer numbers) {
            long unpacked = next(unpackedBytes, numbers);
            long packed = next(packedBytes, numbers);
            return new Entry(flags, method, crc, packed, unpacked, next(offset, numbers));
        }

        private static long next(long number, ByteBuffer numbers) {
            return number == ELSEWHERE && numbers.remaining() >= Long.BYTES ? numbers.getLong() : number;
        }

        Entry with(long crc, long packedBytes, long unpackedBytes) {
            return new Entry(flags, method, crc, packedBytes, unpackedBytes, offset);
        }
    }

    /** What the last record says of the directory, or that of zip64 for it. */
    record Last(int disk, long count, long bytes, int offset) {

        private static final int SHORT_ELSEWHERE = 0xFFFF;

        /** Reads the record that begins here, which may be before the buffer. */
        static Last of(ByteBuffer bytes, int at, @Nullable Last long64) {
            Last last = new Last(
                    u16(bytes, at + 4) | u16(bytes, at + 6),
                    u16(bytes, at + 10),
                    u32(bytes, at + 12),
                    bytes.getInt(at + 16));
            boolean elsewhere = last.disk == SHORT_ELSEWHERE
                    || last.count == SHORT_ELSEWHERE
                    || last.bytes == ELSEWHERE
                    || last.offset == -1;
            return long64 != null && elsewhere ? long64 : last;
        }

        static Last of64(ByteBuffer bytes, int at) {
            return new Last(
                    bytes.getInt(at + 16) | bytes.getInt(at + 20), bytes.getLong(at + 32), bytes.getLong(at + 40), (int)
                            bytes.getLong(at + 48));
        }

        void compare(long entries) throws NotWhole {
            requireOneFile();
            if ((short) count != (short) entries) {
                throw NotWhole.broken("its directory lists %,d entries, its end says %,d".formatted(entries, count));
            }
        }

        /** Some old programs write a wrong length, and programs that read correct it. */
        void compareBytes(long directoryBytes) throws NotWhole {
            if ((int) bytes != (int) directoryBytes) {
                throw NotWhole.suspect(
                        "its directory has %,d bytes, its end says %,d".formatted(directoryBytes, bytes));
            }
        }

        /** Of an archive in several files nothing is judged. */
        void requireOneFile() throws NotWhole {
            if (disk != 0) {
                throw NotWhole.unknown("it is one of several files of an archive");
            }
        }
    }

    /**
     * Judges by the last bytes of an archive whose entries could be followed only up to a certain byte.
     *
     * @param tail the last bytes
     * @param tailStart where they begin
     * @param known the entries up to there
     * @param lostAt that byte
     * @param noEntry where no entry begins
     */
    static void judge(ByteBuffer tail, long tailStart, ZipDirectory known, long lostAt, long... noEntry)
            throws NotWhole {
        ByteBuffer bytes = tail.order(ByteOrder.LITTLE_ENDIAN);
        int at = lastEnd(bytes);
        boolean long64 = at >= LOCATOR_BYTES && bytes.getInt(at - LOCATOR_BYTES) == LOCATOR_64;
        int end = long64 ? at - LOCATOR_BYTES - END_64_BYTES : at;
        if (long64 && (end < 0 || bytes.getInt(end) != END_64)) {
            throw NotWhole.unknown();
        }
        Last last = Last.of(bytes, at, long64 ? Last.of64(bytes, end) : null);
        last.requireOneFile();
        // Programs write offsets modulo 2³². Beyond, a smaller offset does not mean that the entry comes before.
        if (last.bytes >= 0 && last.bytes <= end && tailStart <= ELSEWHERE) {
            int start = (int) (end - last.bytes);
            int shift = (int) (tailStart + start) - last.offset;
            ZipDirectory before = new ZipDirectory();
            if (start < end && bytes.getInt(start) != CENTRAL) {
                throw NotWhole.suspect("its directory is not where its end says");
            }
            last.compare(list(bytes, start, end, shift, before, lostAt, noEntry));
            known.compare(before, shift);
        }
    }

    private static int lastEnd(ByteBuffer bytes) throws NotWhole {
        for (int at = bytes.limit() - END_BYTES; at >= 0; at--) {
            if (bytes.getInt(at) == END && at + END_BYTES + u16(bytes, at + 20) <= bytes.limit()) {
                return at;
            }
        }
        throw NotWhole.broken("it has no directory at its end");
    }

    /** Adds the entries before a certain byte, and returns the number of all. */
    private static long list(
            ByteBuffer bytes, int start, int end, int shift, ZipDirectory before, long lostAt, long... noEntry)
            throws NotWhole {
        long all = 0;
        for (int at = start; at < end; all++) {
            if (at + SIGNATURE_BYTES <= end && bytes.getInt(at) == SIGNATURE) {
                return all;
            }
            if (at + CENTRAL_BYTES > end || bytes.getInt(at) != CENTRAL) {
                throw NotWhole.broken("entry %,d of its directory is damaged".formatted(all + 1));
            }
            int extra = at + CENTRAL_BYTES + u16(bytes, at + 28);
            int comment = extra + u16(bytes, at + 30);
            if (comment > end) {
                throw NotWhole.broken("entry %,d of its directory is damaged".formatted(all + 1));
            }
            Entry entry = Entry.read(bytes, at + 8, u32(bytes, at + 42)).with(bytes.slice(extra, comment - extra));
            long offset = (entry.offset + shift) & ELSEWHERE;
            for (long none : noEntry) {
                if (offset == none) {
                    throw NotWhole.broken(
                            "it has no entry at byte %,d, where its directory says one".formatted(offset));
                }
            }
            if (offset < lostAt) {
                before.add(entry);
            }
            at = comment + u16(bytes, at + 32);
        }
        return all;
    }
}
