package dozo.content;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Iterator;
import java.util.stream.Stream;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import org.jspecify.annotations.Nullable;

/**
 * gzip (RFC 1952): members one after the other, each with its CRC-32 and length; then nothing, or zeros. Other bytes after the
 * last member are suspect. The content is inspected, too.
 */
final class Gzip implements Format {

    private static final int HEADER_BYTES = 10;
    private static final int TRAILER_BYTES = 8;

    private static final int EXTRA_LENGTH_BYTES = 2;
    private static final int HEADER_CRC_BYTES = 2;

    /** These bits of the flags are zero. */
    private static final int RESERVED = 0xE0;

    @Override
    public @Nullable Check check(Beginning file) {
        // NB: not in another one, because a file can unpack to itself without end.
        boolean gzip = file.sizeBytes() != Beginning.SIZE_UNKNOWN
                && file.has(0, "\u001F\u008B\b")
                && file.reaches(4)
                && (file.bytes().get(3) & RESERVED) == 0;
        String inner =
                file.isNamed(".gz") ? file.name().substring(0, file.name().length() - 3) : file.name();
        return gzip ? new Members(inner, file.sizeBytes()) : null;
    }

    /** The parts of a file in their order. */
    private enum Step {
        HEADER(0),
        EXTRA_LENGTH(4),
        EXTRA(4),
        NAME(8),
        COMMENT(16),
        HEADER_CRC(2),
        DATA(0),
        TRAILER(0),
        BETWEEN(0),
        ZEROS(0);

        /** A member has this part if this bit of its flags is set (section 2.3.1); 0: always. */
        private final int flag;

        Step(int flag) {
            this.flag = flag;
        }
    }

    private static final class Members extends Check {

        private final Inspection content;
        private final Unpacking unpacking;
        private Step step = Step.HEADER;
        private Iterator<Step> parts = Collections.emptyIterator();

        /** How many bytes of a part of fixed length have passed, and those of the trailer. */
        private int at;

        private long number;
        private int extraBytes;
        private long read;

        Members(String name, long sizeBytes) {
            super("gzip");
            content = new Inspection(name, Beginning.SIZE_UNKNOWN);
            unpacking = new Unpacking(sizeBytes, false, content::take);
        }

        @Override
        String format() {
            return content.format().map(inner -> inner + " in gzip").orElse("gzip");
        }

        @Override
        void take(ByteBuffer bytes) throws NotWhole {
            try {
                while (bytes.hasRemaining()) {
                    if (step == Step.DATA) {
                        unpack(bytes);
                    } else {
                        read++;
                        take(Byte.toUnsignedInt(bytes.get()));
                    }
                }
            } catch (NotWhole why) {
                unpacking.close();
                throw why;
            }
        }

        private void take(int value) throws NotWhole {
            at++;
            switch (step) {
                case HEADER -> header(value);
                case EXTRA_LENGTH -> extraLength(value);
                case EXTRA -> nextAfter(extraBytes);
                case NAME, COMMENT -> nextAfter(value == 0 ? at : Integer.MAX_VALUE);
                case HEADER_CRC -> nextAfter(HEADER_CRC_BYTES);
                case TRAILER -> trailer(value);
                case BETWEEN -> between(value);
                case ZEROS -> zeros(value);
                case DATA -> throw new IllegalStateException();
            }
        }

        private void header(int value) throws NotWhole {
            boolean right = switch (at) {
                case 1 -> value == 0x1F;
                case 2 -> value == 0x8B;
                case 3 -> value == Deflater.DEFLATED;
                case 4 -> (value & RESERVED) == 0;
                default -> true;
            };
            if (!right) {
                throw NotWhole.broken("the header of gzip member %,d is damaged".formatted(number + 1));
            }
            if (at == 4) {
                parts = Stream.of(Step.EXTRA_LENGTH, Step.EXTRA, Step.NAME, Step.COMMENT, Step.HEADER_CRC, Step.DATA)
                        .filter(part -> (part.flag & value) == part.flag)
                        .iterator();
            }
            nextAfter(HEADER_BYTES);
        }

        private void extraLength(int value) {
            extraBytes = at == 1 ? value : extraBytes | value << Byte.SIZE;
            if (at == EXTRA_LENGTH_BYTES && extraBytes == 0) {
                parts.next();
            }
            nextAfter(EXTRA_LENGTH_BYTES);
        }

        /** After so many bytes of the part, begins the next one of this member. */
        private void nextAfter(int bytes) {
            if (at == bytes) {
                at = 0;
                step = parts.next();
                if (step == Step.DATA) {
                    unpacking.begin();
                }
            }
        }

        private void unpack(ByteBuffer bytes) throws NotWhole {
            int before = bytes.remaining();
            boolean ended;
            try {
                ended = unpacking.take(bytes);
            } catch (DataFormatException e) {
                throw NotWhole.broken("its compressed data is damaged before byte %,d"
                        .formatted(read + before - bytes.remaining() + 1));
            }
            read += before - bytes.remaining();
            if (ended) {
                at = 0;
                step = Step.TRAILER;
            }
        }

        /** Compares with CRC-32 and length modulo 2³², both with the lowest byte first. */
        private void trailer(int value) throws NotWhole {
            int place = at - 1;
            long wanted = place < 4 ? unpacking.crc() : unpacking.unpackedBytes();
            if (((wanted >>> (Byte.SIZE * (place % 4))) & 0xFF) != value) {
                throw NotWhole.broken("the data of gzip member %,d does not have its checksum".formatted(number + 1));
            }
            if (at == TRAILER_BYTES) {
                number++;
                at = 0;
                step = Step.BETWEEN;
            }
        }

        private void between(int value) throws NotWhole {
            if (value == 0) {
                step = Step.ZEROS;
            } else if (value == 0x1F) {
                step = Step.HEADER;
            } else {
                throw afterTheEnd();
            }
        }

        private void zeros(int value) throws NotWhole {
            if (value != 0) {
                throw afterTheEnd();
            }
        }

        private NotWhole afterTheEnd() {
            return NotWhole.suspect("bytes that are not gzip follow from byte %,d on".formatted(read));
        }

        @Override
        Verdict judge() throws NotWhole {
            unpacking.close();
            if (step != Step.BETWEEN && step != Step.ZEROS) {
                throw NotWhole.broken(
                        "it ends after %,d bytes, in the middle of gzip member %,d".formatted(read, number + 1));
            }
            Verdict inner = content.verdict();
            // Of the content nobody knows; gzip's own rules hold.
            return inner.state() == State.UNKNOWN
                    ? new Verdict(State.WHOLE, super.format(), "")
                    : new Verdict(inner.state(), format(), inner.why());
        }
    }
}
