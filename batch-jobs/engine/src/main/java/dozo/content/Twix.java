package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Siemens raw data of MRI, {@code .dat} ("TWIX"; layout as read by twixtools and pymapVBVD), little endian. Since software VD a
 * table names the measurements of the file; before, it is one measurement. A measurement has a header, then blocks of one
 * readout each, the last one marked. A readout's own length is not used, because it is sometimes wrong: as in those programs, its
 * samples and channels count. No checksum: changed samples cannot be seen.
 */
final class Twix implements Format {

    private static final int MEASUREMENTS_MAX = 64;
    private static final int ENTRY_BYTES = 152;
    private static final int ENTRIES_AT = 8;
    private static final int TABLE_BYTES = ENTRIES_AT + MEASUREMENTS_MAX * ENTRY_BYTES;

    /** An older file begins with the length of its header, which is longer; a newer one with a smaller number. */
    private static final int HEADER_BYTES_MIN = 10_000;

    private static final int HEADER_BYTES_MAX = 1 << 28;
    private static final int NAME_BYTES_MAX = 48;

    @Override
    public @Nullable Check check(Beginning file) {
        if (!file.isNamed(".dat") || !file.reaches(ENTRIES_AT + ENTRY_BYTES)) {
            return null;
        }
        ByteBuffer bytes = file.in(ByteOrder.LITTLE_ENDIAN);
        long first = Integer.toUnsignedLong(bytes.getInt(0));
        int count = bytes.getInt(4);
        if (count < 1 || count > MEASUREMENTS_MAX) {
            return null;
        }
        if (first < HEADER_BYTES_MIN) {
            return isEntry(bytes) ? new Measurements(count) : null;
        }
        return first < HEADER_BYTES_MAX && isName(bytes) ? new Measurements() : null;
    }

    /** Returns whether the first entry may be one: its offset is behind the table, and its two names are text. */
    private static boolean isEntry(ByteBuffer bytes) {
        boolean text = true;
        for (int i = ENTRIES_AT + 24; i < ENTRIES_AT + ENTRY_BYTES; i++) {
            int value = Byte.toUnsignedInt(bytes.get(i));
            text &= value == 0 || value >= ' ';
        }
        long offset = bytes.getLong(ENTRIES_AT + 8);
        return text && offset >= TABLE_BYTES && offset < HEADER_BYTES_MAX;
    }

    /** Returns whether the header begins with the name of its first part, such as {@code Config}. */
    private static boolean isName(ByteBuffer bytes) {
        byte[] name = new byte[NAME_BYTES_MAX];
        bytes.get(ENTRIES_AT, name);
        return new String(name, StandardCharsets.ISO_8859_1).matches("(?s)[A-Z][A-Za-z]+\0.*");
    }

    /** A part of the file; length 0: not known. */
    private record Measurement(int number, long offset, long bytes) {

        /** Returns the first byte after it, or after as much of it as must be there. */
        long end() {
            return offset + Math.max(bytes, Integer.BYTES);
        }
    }

    private static final class Measurements extends Check {

        private static final int ACQUISITION_END = 1;
        private static final int SYNC_DATA = 1 << 5;

        /** The other bits of the same field are flags. */
        private static final int LENGTH = 0x1FF_FFFF;

        private static final int SAMPLE_BYTES = 8;

        private final boolean table;
        private final int count;

        /** In the order of their offsets. */
        private final List<Measurement> measurements = new ArrayList<>();

        private int current;
        private Step step;
        private long blockEnd;

        private String suspicion = "";

        /** One measurement, of software before VD. */
        Measurements() {
            super("Siemens TWIX");
            table = false;
            count = 1;
            measurements.add(new Measurement(1, 0, 0));
            step = Step.HEADER;
            want(Integer.BYTES);
        }

        /** So many measurements, named by a table. */
        Measurements(int count) {
            super("Siemens TWIX");
            table = true;
            this.count = count;
            step = Step.TABLE;
            want(ENTRIES_AT + count * ENTRY_BYTES);
        }

        private enum Step {
            TABLE,
            HEADER,
            BLOCK,
            REST
        }

        @Override
        void part(ByteBuffer bytes) throws NotWhole {
            bytes.order(ByteOrder.LITTLE_ENDIAN);
            switch (step) {
                case TABLE -> table(bytes);
                case HEADER -> header(Integer.toUnsignedLong(bytes.getInt()));
                case BLOCK -> block(bytes);
                case REST -> throw new IllegalStateException();
            }
        }

        private void table(ByteBuffer bytes) throws NotWhole {
            for (int i = 0; i < count; i++) {
                long offset = bytes.getLong(ENTRIES_AT + i * ENTRY_BYTES + 8);
                long length = bytes.getLong(ENTRIES_AT + i * ENTRY_BYTES + 16);
                if (offset < TABLE_BYTES || length < 0 || offset > Long.MAX_VALUE / 2 - length) {
                    throw NotWhole.broken(
                            "the place of measurement %,d of %,d in its table is impossible".formatted(i + 1, count));
                }
                measurements.add(new Measurement(i + 1, offset, length));
            }
            measurements.sort(Comparator.comparingLong(Measurement::offset));
            for (int i = 1; i < count; i++) {
                if (measurements.get(i - 1).end() > measurements.get(i).offset()) {
                    throw NotWhole.suspect("measurements overlap in its table");
                }
            }
            begin();
        }

        private void begin() {
            if (current == count) {
                step = Step.REST;
                skip(Math.max(0, blockEnd - position()));
                return;
            }
            step = Step.HEADER;
            skip(measurements.get(current).offset() - position());
            want(Integer.BYTES);
        }

        private void header(long bytes) throws NotWhole {
            if (bytes < Integer.BYTES || position() - Integer.BYTES + bytes > limit()) {
                damaged();
            } else {
                blockEnd = position() - Integer.BYTES + bytes;
                nextBlock();
            }
        }

        /** Returns where the next measurement begins. */
        private long limit() {
            return current + 1 < count ? measurements.get(current + 1).offset() : Long.MAX_VALUE;
        }

        /** Begins a block, of which only the beginning is read: as far as its samples and channels. */
        private void nextBlock() {
            if (blockEnd + headBytes() > limit()) {
                stop();
            } else {
                skip(blockEnd - position());
                step = Step.BLOCK;
                want(headBytes());
            }
        }

        private int headBytes() {
            return table ? 52 : 32;
        }

        private void block(ByteBuffer head) throws NotWhole {
            int length = head.getInt(0) & LENGTH;
            long mask = head.getLong(table ? 40 : 20);
            boolean end = (mask & ACQUISITION_END) != 0;
            boolean readout = !end && (mask & SYNC_DATA) == 0;
            long bytes = readout ? readoutBytes(head) : length;
            if (length == 0) {
                zero();
            } else if (bytes < headBytes() || position() - headBytes() + bytes > limit()) {
                damaged();
            } else {
                blockEnd = position() - headBytes() + bytes;
                if (end) {
                    current++;
                    begin();
                } else {
                    nextBlock();
                }
            }
        }

        private long readoutBytes(ByteBuffer head) {
            long samples = Short.toUnsignedLong(head.getShort(table ? 48 : 28)) * SAMPLE_BYTES;
            long channels = Short.toUnsignedLong(head.getShort(table ? 50 : 30));
            return table ? 192 + channels * (32 + samples) : channels * (128 + samples);
        }

        /** Reads a block without length: programs take it for the end, but the table may say that more should follow. */
        private void zero() throws NotWhole {
            long start = position() - headBytes();
            if (measurements.get(current).bytes() > 0
                    && start + 512 < measurements.get(current).end()) {
                damaged();
            } else {
                stop();
            }
        }

        private void damaged() throws NotWhole {
            throw NotWhole.broken("%s is damaged before byte %,d".formatted(measurement(), position()));
        }

        private void stop() {
            suspicion = measurement() + " has no end mark: it was stopped, or its end is missing";
            current++;
            begin();
        }

        private String measurement() {
            return "measurement %,d of %,d"
                    .formatted(measurements.get(Math.min(current, count - 1)).number(), count);
        }

        @Override
        void end(long left) throws NotWhole {
            long size = position();
            long needed = step == Step.TABLE
                    ? ENTRIES_AT + (long) count * ENTRY_BYTES
                    : measurements.stream().mapToLong(Measurement::end).max().orElseThrow();
            if (size < needed) {
                throw NotWhole.broken("its table says %,d bytes, the file has %,d".formatted(needed, size));
            }
            if (left > 0 && size < blockEnd) {
                throw NotWhole.broken("it ends in the middle of " + measurement());
            }
            if (step == Step.BLOCK || step == Step.HEADER) {
                stop();
            }
            if (!suspicion.isEmpty()) {
                throw NotWhole.suspect(suspicion);
            }
        }
    }
}
