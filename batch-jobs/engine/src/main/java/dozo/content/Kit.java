package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Recordings and marker measurements of KIT/Yokogawa MEG (as read by MNE-Python, {@code mne/io/kit}), little endian. A
 * directory at the start names the offset, item size and item count of each part. There is no magic number: the directory names
 * itself, and the file's name has the usual ending. Published files claim more raw data and averages than they hold: for those
 * the samples count that were acquired.
 */
final class Kit implements Format {

    private static final List<String> ENDINGS = List.of(".con", ".sqd", ".mrk", ".raw", ".ave");
    private static final int ENTRY_BYTES = 16;
    private static final int ENTRIES_MIN = 12;
    private static final int ENTRIES_MAX = 256;

    @Override
    public @Nullable Check check(Beginning file) {
        ByteBuffer bytes = file.in(ByteOrder.LITTLE_ENDIAN);
        boolean named = ENDINGS.stream().anyMatch(file::isNamed);
        if (!named || !file.reaches(3 * ENTRY_BYTES) || bytes.getInt(0) != 0 || bytes.getInt(4) != ENTRY_BYTES) {
            return null;
        }
        int count = bytes.getInt(12);
        boolean directory = count >= ENTRIES_MIN && count <= ENTRIES_MAX && bytes.getInt(8) >= count;
        boolean system = bytes.getInt(ENTRY_BYTES) >= count * ENTRY_BYTES && bytes.getInt(ENTRY_BYTES + 12) == 1;
        return directory && system ? new Parts(count) : null;
    }

    /** An entry of the directory. */
    private record Part(int number, long offset, long itemBytes, long items) {

        boolean isUsed() {
            return offset > 0 && itemBytes > 0 && items > 0;
        }

        long end() {
            return offset + itemBytes * items;
        }
    }

    private static final class Parts extends Check {

        private static final int SYSTEM = 1;
        private static final int CONDITION = 8;
        private static final int RAW = 9;
        private static final int AVERAGES = 10;

        /** How far the system and the condition are read. */
        private static final int CHANNELS_AT = 268;

        private static final int CONDITION_BYTES = 28;

        /** Kinds of recordings: the samples are in different fields. */
        private static final int CONTINUOUS = 1;

        private static final int AVERAGED = 2;
        private static final int EPOCHS = 3;
        private static final int AVERAGE_BYTES = 8;

        private final int count;
        private final List<Part> parts = new ArrayList<>();

        /** Those that are read, in the order of their offsets. */
        private List<Part> reads = List.of();

        private int read = -1;
        private long channels;
        private long samples;
        private int kind;

        Parts(int count) {
            super("KIT");
            this.count = count;
            want(count * ENTRY_BYTES);
        }

        @Override
        void part(ByteBuffer bytes) throws NotWhole {
            bytes.order(ByteOrder.LITTLE_ENDIAN);
            if (read < 0) {
                directory(bytes);
            } else if (reads.get(read).number() == SYSTEM) {
                channels = bytes.getInt(CHANNELS_AT);
            } else {
                condition(bytes);
            }
            next();
        }

        private void directory(ByteBuffer bytes) throws NotWhole {
            for (int i = 0; i < count; i++) {
                parts.add(new Part(i, bytes.getInt(), bytes.getInt(), next(bytes)));
            }
            reads = Stream.of(parts.get(SYSTEM), parts.get(CONDITION))
                    .filter(Part::isUsed)
                    .sorted(Comparator.comparingLong(Part::offset))
                    .toList();
            if (reads.size() < 2 || reads.get(1).offset() < reads.get(0).offset() + bytesOf(reads.get(0))) {
                throw NotWhole.unknown();
            }
        }

        /** Returns the count of items, which follows how many there may be. */
        private static int next(ByteBuffer bytes) {
            bytes.getInt();
            return bytes.getInt();
        }

        private static int bytesOf(Part part) {
            return part.number() == SYSTEM ? CHANNELS_AT + Integer.BYTES : CONDITION_BYTES;
        }

        private void next() throws NotWhole {
            read++;
            if (read < reads.size()) {
                Part part = reads.get(read);
                if (part.offset() < position()) {
                    throw NotWhole.unknown();
                }
                skip(part.offset() - position());
                want(bytesOf(part));
            }
        }

        private void condition(ByteBuffer bytes) {
            kind = bytes.getInt(0);
            samples = switch (kind) {
                case CONTINUOUS -> bytes.getInt(16);
                case AVERAGED -> bytes.getInt(12);
                case EPOCHS -> (long) bytes.getInt(12) * bytes.getInt(24);
                default -> 0;
            };
        }

        @Override
        void end(long left) throws NotWhole {
            long size = position();
            long needed = (long) count * ENTRY_BYTES;
            for (Part part : parts) {
                if (part.isUsed() && part.number() != RAW && part.number() != AVERAGES) {
                    needed = Math.max(needed, part.end());
                }
            }
            long dataEnd = channels > 0 && samples > 0 && read == reads.size() ? dataEnd() : 0;
            needed = Math.max(needed, dataEnd);
            if (size < needed) {
                throw NotWhole.broken("its directory says %,d bytes, the file has %,d".formatted(needed, size));
            }
            if (dataEnd == 0) {
                throw NotWhole.unknown("the file does not say how many samples it should have");
            }
        }

        /** Returns the first byte after the samples that were acquired, or 0 if they are in neither part. */
        private long dataEnd() {
            Part raw = parts.get(RAW);
            Part averages = parts.get(AVERAGES);
            // A directory cannot name more; larger products would overflow.
            long values = Math.min(Math.min(samples, Integer.MAX_VALUE) * channels, Integer.MAX_VALUE);
            if (kind == AVERAGED) {
                return averages.isUsed()
                        ? averages.offset() + Math.min(values * AVERAGE_BYTES, averages.itemBytes() * averages.items())
                        : 0;
            }
            // Of planned epochs some may be missing; a recording without epochs has all samples that it counts.
            long acquired = kind == EPOCHS ? Math.min(values, raw.items()) : values;
            return raw.isUsed() ? raw.offset() + acquired * raw.itemBytes() : 0;
        }
    }
}
