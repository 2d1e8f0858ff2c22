package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * DICOM files: with preamble and file meta information (PS3.10 section 7), or a bare data set. The file meta information is
 * group 2 and explicit little endian; its group length is often wrong, so it ends where another group begins. The rest is
 * {@link DicomData}, deflated or not.
 */
final class Dicom implements Format {

    private static final String NAME = "DICOM";
    private static final int PREFIX_OFFSET = 128;
    private static final int META_OFFSET = 132;
    private static final int META_GROUP = 2;
    private static final int TRANSFER_SYNTAX = 0x0002_0010;
    private static final int UID_BYTES_MAX = 64;

    /** A bare data set shows so many plausible elements. */
    private static final int ELEMENTS_BARE = 3;

    private static final int BARE_GROUP_MAX = 0x0028;
    private static final int BARE_VALUE_BYTES_MAX = 1_024;

    @Override
    public @Nullable Check check(Beginning file) {
        ByteBuffer bytes = file.in(ByteOrder.LITTLE_ENDIAN);
        boolean prefix = file.has(PREFIX_OFFSET, "DICM");
        if (prefix && (!file.reaches(META_OFFSET + 2) || bytes.getShort(META_OFFSET) == META_GROUP)) {
            return new Part10(META_OFFSET, file.sizeBytes());
        }
        // The prefix may also be chance: the value of a bare data set.
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            for (boolean explicit : new boolean[] {true, false}) {
                if (isBare(bytes.order(order), explicit) && (explicit || isNamed(file))) {
                    boolean meta = bytes.getShort(0) == META_GROUP && order == ByteOrder.LITTLE_ENDIAN;
                    return meta
                            ? new Part10(0, file.sizeBytes())
                            : new DicomData(NAME, new DicomSyntax(order, explicit), 0);
                }
            }
        }
        return prefix ? new Part10(META_OFFSET, file.sizeBytes()) : null;
    }

    /** Elements without types look like other numbers: then also a UID of the standard, or its older name, must be there. */
    private static boolean isNamed(Beginning file) {
        for (int at = 0; at < file.bytes().limit(); at++) {
            if (file.has(at, "1.2.840.10008.") || file.has(at, "ACR-NEMA")) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether the bytes begin with elements of group 2 or 8 in ascending order, all of them short. */
    private static boolean isBare(ByteBuffer bytes, boolean explicit) {
        int at = 0;
        int last = -1;
        for (int i = 0; i < ELEMENTS_BARE; i++) {
            if (at + DicomElements.LONG_HEADER_BYTES > bytes.limit()) {
                return false;
            }
            int group = Short.toUnsignedInt(bytes.getShort(at));
            int tag = group << Short.SIZE | Short.toUnsignedInt(bytes.getShort(at + 2));
            boolean begins = i > 0 || group == META_GROUP || group == 8;
            boolean large = explicit && DicomVr.isLong(bytes, at);
            long length;
            if (large) {
                length = Integer.toUnsignedLong(bytes.getInt(at + 8));
            } else if (explicit) {
                length = Short.toUnsignedInt(bytes.getShort(at + 6));
            } else {
                length = Integer.toUnsignedLong(bytes.getInt(at + 4));
            }
            boolean typed = !explicit || large || DicomVr.isShort(bytes, at);
            if (!begins || !typed || tag <= last || group > BARE_GROUP_MAX || length > BARE_VALUE_BYTES_MAX) {
                return false;
            }
            last = tag;
            at += (large ? DicomElements.LONG_HEADER_BYTES : DicomElements.HEADER_BYTES) + (int) length;
        }
        return true;
    }

    /** The file meta information; what follows it is for another check. */
    private static final class Part10 extends Check {

        private final int start;
        private final long sizeBytes;
        private @Nullable Check rest;
        private String syntax = "";
        private int tag;
        private boolean header = true;
        private boolean length;

        Part10(int start, long sizeBytes) {
            super(NAME);
            this.start = start;
            this.sizeBytes = sizeBytes;
            skip(start);
            want(DicomElements.HEADER_BYTES);
        }

        @Override
        void take(ByteBuffer bytes) throws NotWhole {
            while (bytes.hasRemaining()) {
                if (rest != null) {
                    rest.take(bytes);
                } else {
                    // Not more than the next part: with it the file meta information may end.
                    int count = (int) Math.min(bytes.remaining(), left());
                    super.take(bytes.slice(bytes.position(), count));
                    bytes.position(bytes.position() + count);
                }
            }
        }

        @Override
        void part(ByteBuffer bytes) throws NotWhole {
            bytes.order(ByteOrder.LITTLE_ENDIAN);
            if (length) {
                length = false;
                value(Integer.toUnsignedLong(bytes.getInt(0)));
            } else if (header) {
                header(bytes);
            } else {
                syntax = StandardCharsets.ISO_8859_1.decode(bytes).toString().trim();
                header = true;
                want(DicomElements.HEADER_BYTES);
            }
        }

        private void header(ByteBuffer bytes) throws NotWhole {
            int group = Short.toUnsignedInt(bytes.getShort(0));
            if (group != META_GROUP) {
                DicomSyntax declared = DicomSyntax.of(syntax, bytes);
                rest = declared.isDeflated()
                        ? new Deflated(declared, sizeBytes)
                        : new DicomData(NAME, declared, position() - DicomElements.HEADER_BYTES);
                rest.take(bytes);
                return;
            }
            tag = group << Short.SIZE | Short.toUnsignedInt(bytes.getShort(2));
            if (DicomVr.isLong(bytes, 0)) {
                length = true;
                want(DicomElements.LONG_HEADER_BYTES - DicomElements.HEADER_BYTES);
            } else if (DicomVr.isShort(bytes, 0)) {
                value(Short.toUnsignedLong(bytes.getShort(6)));
            } else {
                value(Integer.toUnsignedLong(bytes.getInt(4)));
            }
        }

        private void value(long bytes) {
            if (tag == TRANSFER_SYNTAX && bytes > 0 && bytes <= UID_BYTES_MAX) {
                header = false;
                want((int) bytes);
            } else {
                skip(bytes);
                want(DicomElements.HEADER_BYTES);
            }
        }

        @Override
        void end(long left) throws NotWhole {
            throw NotWhole.broken(
                    position() <= start
                            ? "it ends after %,d bytes, before any data".formatted(position())
                            : "it ends after %,d bytes, in the middle of its file header".formatted(position()));
        }

        @Override
        Optional<Relation> relation() {
            return rest == null ? Optional.empty() : rest.relation();
        }

        @Override
        Verdict judge() throws NotWhole {
            return rest == null ? super.judge() : rest.judge();
        }
    }

    /**
     * A deflated data set (PS3.5 A.5): raw RFC 1951, by some writers with the header of RFC 1950. Then come nothing, zeros, or, from some writers, the CRC-32 and the length as in gzip.
     */
    private static final class Deflated extends Check {

        private static final int ZLIB = 0x78;
        private static final int TRAILER_BYTES = 8;

        private final DicomData data;
        private final long sizeBytes;
        private @Nullable Unpacking unpacking;
        private long packed;
        private final ByteBuffer trailer = ByteBuffer.allocate(TRAILER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        private boolean finished;
        private boolean more;

        Deflated(DicomSyntax syntax, long sizeBytes) {
            super(NAME);
            this.sizeBytes = sizeBytes;
            data = new DicomData(NAME, syntax, 0);
        }

        @Override
        void take(ByteBuffer bytes) throws NotWhole {
            if (unpacking == null) {
                // No deflated block begins like this: the padding of a stored one is zero.
                unpacking = new Unpacking(sizeBytes, bytes.get(bytes.position()) == ZLIB, data::take);
            }
            try {
                if (!finished) {
                    unpack(unpacking, bytes);
                }
            } catch (NotWhole why) {
                unpacking.close();
                throw why;
            }
            while (bytes.hasRemaining()) {
                byte value = bytes.get();
                if (trailer.hasRemaining()) {
                    trailer.put(value);
                } else {
                    more |= value != 0;
                }
            }
        }

        private void unpack(Unpacking from, ByteBuffer bytes) throws NotWhole {
            int before = bytes.remaining();
            try {
                finished = from.take(bytes);
            } catch (DataFormatException e) {
                throw NotWhole.broken("its compressed data is damaged");
            }
            packed += before - bytes.remaining();
        }

        @Override
        Optional<Relation> relation() {
            return data.relation();
        }

        @Override
        Verdict judge() throws NotWhole {
            try (Unpacking all = unpacking) {
                if (all == null || !finished) {
                    throw NotWhole.broken(
                            "it ends in the middle of its compressed data, after %,d bytes of it".formatted(packed));
                }
                Verdict verdict = data.judge();
                judgeTrailer(all);
                return verdict;
            }
        }

        private void judgeTrailer(Unpacking all) throws NotWhole {
            boolean zeros = true;
            for (int i = 0; i < trailer.position(); i++) {
                zeros &= trailer.get(i) == 0;
            }
            boolean sized = !trailer.hasRemaining() && trailer.getInt(Integer.BYTES) == (int) all.unpackedBytes();
            if (sized && !zeros && trailer.getInt(0) != (int) all.crc()) {
                throw NotWhole.broken("its compressed data does not have its checksum");
            }
            if (more || !(zeros || sized)) {
                throw NotWhole.suspect("other bytes follow its compressed data");
            }
        }
    }
}
