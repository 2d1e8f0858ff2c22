package dozo.content;

import static dozo.content.ZipDirectory.CENTRAL;
import static dozo.content.ZipDirectory.CENTRAL_BYTES;
import static dozo.content.ZipDirectory.DEFLATED;
import static dozo.content.ZipDirectory.ELSEWHERE;
import static dozo.content.ZipDirectory.END;
import static dozo.content.ZipDirectory.END_64;
import static dozo.content.ZipDirectory.END_64_BYTES;
import static dozo.content.ZipDirectory.END_BYTES;
import static dozo.content.ZipDirectory.LOCATOR_64;
import static dozo.content.ZipDirectory.LOCATOR_BYTES;
import static dozo.content.ZipDirectory.SIGNATURE;
import static dozo.content.ZipDirectory.SIGNATURE_BYTES;
import static dozo.content.ZipDirectory.STORED;
import static dozo.content.ZipDirectory.u16;
import static dozo.content.ZipDirectory.u32;

import dozo.content.ZipDirectory.Entry;
import dozo.content.ZipDirectory.Last;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * zip and zip64 (PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5): entries, each with a header before its data, then a directory of
 * them and a last record. The data is unpacked and compared with its CRC-32, and the entries with the directory. Where an entry
 * does not say how long it is, or other bytes are between entries, only the directory at the end is judged, as far as it is in
 * the last {@value #TAIL_BYTES} bytes. Of encrypted entries only the lengths are judged, of archives in several files nothing.
 */
final class Zip implements Format {

    static final int TAIL_BYTES = (1 << 16) + 22;

    private static final int LOCAL = 0x04034B50;
    private static final int LOCAL_BYTES = 30;

    private static final int VERSION_MAX = 99;
    private static final int METHOD_MAX = 99;

    /** Names of the parts of an archive that was split: x.z01, x.zip.001. */
    private static final Pattern PART_NAME = Pattern.compile(".*\\.z?\\d{2,}", Pattern.CASE_INSENSITIVE);

    @Override
    public @Nullable Check check(Beginning file) {
        boolean archive = (file.has(0, "PK\3\4") && isPlausible(file)) || file.has(0, "PK\5\6");
        return archive && !PART_NAME.matcher(file.name()).matches() ? new Entries(file.sizeBytes()) : null;
    }

    private static boolean isPlausible(Beginning file) {
        ByteBuffer bytes = file.in(ByteOrder.LITTLE_ENDIAN);
        return !file.reaches(10) || (bytes.get(4) >= 0 && bytes.get(4) <= VERSION_MAX && u16(bytes, 8) <= METHOD_MAX);
    }

    /** What the next part is. */
    private enum Step {
        RECORD,
        LOCAL,
        NAMES,
        DATA,
        AFTER_DATA,
        CENTRAL,
        CENTRAL_EXTRA,
        SIGNATURE,
        END_64,
        END,
        LOST,
        PASSED
    }

    private static final class Entries extends Check {

        private static final int RECORD_BYTES = 4;

        /** After data there may be checksum and lengths: 12 bytes, 4 more with a signature, 8 more in zip64. */
        private static final int[] AFTER_DATA_BYTES = {0, 12, 16, 20, 24};

        private final Unpacking unpacking;
        private final CRC32 storedCrc = new CRC32();
        private final ZipDirectory local = new ZipDirectory();
        private final ZipDirectory central = new ZipDirectory();
        private Step step = Step.RECORD;
        private Entry entry = new Entry(0, 0, 0, 0, 0, 0);
        private boolean folder;
        private int nameBytes;
        private int commentBytes;

        /** How many packed bytes of the entry have come, and how many there are; the most possible: nobody knows. */
        private long packed;

        private long packedMost;
        private long dataStart;
        private long dataEnd;

        /** In {@link #AFTER_DATA_BYTES}. */
        private int afterData;

        private long directoryStart = -1;
        private long directoryEnd = -1;
        private @Nullable Last long64;
        private @Nullable Tail tail;

        /** What comes from here on could not be followed. */
        private long lostAt;

        private long[] noEntry = {};

        Entries(long sizeBytes) {
            super("zip");
            unpacking = new Unpacking(sizeBytes, false);
            want(RECORD_BYTES);
        }

        @Override
        void take(ByteBuffer bytes) throws NotWhole {
            try {
                super.take(bytes);
            } catch (NotWhole why) {
                unpacking.close();
                throw why;
            }
        }

        @Override
        void part(ByteBuffer bytes) throws NotWhole {
            bytes.order(ByteOrder.LITTLE_ENDIAN);
            switch (step) {
                case RECORD -> record(bytes.getInt(0));
                case LOCAL -> local(bytes);
                case NAMES -> names(bytes);
                case AFTER_DATA -> afterData(bytes.getInt(0));
                case CENTRAL -> central(bytes);
                case CENTRAL_EXTRA -> addCentral(entry.with(bytes), 0);
                case SIGNATURE -> next(Step.RECORD, u16(bytes, 0), RECORD_BYTES);
                case END_64 -> end64(bytes);
                case END -> end(bytes);
                case DATA, LOST, PASSED -> throw new IllegalStateException();
            }
        }

        private void next(Step step, long skip, int want) {
            this.step = step;
            skip(skip);
            want(want);
        }

        private void record(int record) {
            long at = position() - RECORD_BYTES;
            if (record == CENTRAL) {
                directoryStart = directoryStart < 0 ? at : directoryStart;
            } else if (record != SIGNATURE && directoryEnd < 0) {
                directoryEnd = at;
            }
            switch (record) {
                case LOCAL -> next(Step.LOCAL, 0, LOCAL_BYTES - RECORD_BYTES);
                case CENTRAL -> next(Step.CENTRAL, 0, CENTRAL_BYTES - RECORD_BYTES);
                case SIGNATURE -> next(Step.SIGNATURE, 0, SIGNATURE_BYTES - RECORD_BYTES);
                case END_64 -> next(Step.END_64, 0, END_64_BYTES - RECORD_BYTES);
                case LOCATOR_64 -> next(Step.RECORD, LOCATOR_BYTES - RECORD_BYTES, RECORD_BYTES);
                case END -> next(Step.END, 0, END_BYTES - RECORD_BYTES);
                default -> lose(at, at);
            }
            directoryEnd = record == LOCAL ? -1 : directoryEnd;
        }

        /** Lets the rest pass, and keeps its last bytes. */
        private void lose(long at, long... noEntry) {
            step = Step.LOST;
            lostAt = at;
            this.noEntry = noEntry;
            tail = new Tail(TAIL_BYTES);
        }

        private void local(ByteBuffer header) throws NotWhole {
            entry = Entry.read(header, 6 - RECORD_BYTES, position() - LOCAL_BYTES);
            nameBytes = u16(header, 26 - RECORD_BYTES);
            int names = nameBytes + u16(header, 28 - RECORD_BYTES);
            if (names > PART_BYTES_MAX || central.count() > 0) {
                lose(entry.offset());
            } else if (names == 0) {
                names(ByteBuffer.allocate(0));
            } else {
                next(Step.NAMES, 0, names);
            }
        }

        private void names(ByteBuffer names) throws NotWhole {
            folder = nameBytes > 0 && names.get(nameBytes - 1) == '/';
            entry = entry.with(names.slice(nameBytes, names.limit() - nameBytes));
            packed = 0;
            packedMost = entry.packedBytes();
            if (entry.lengthsFollow()) {
                boolean given = packedMost != 0 && packedMost != ELSEWHERE;
                boolean own = entry.isReadable() && entry.method() == DEFLATED;
                boolean none = folder && entry.method() == STORED;
                packedMost = own ? Long.MAX_VALUE : given ? packedMost : none ? 0 : ELSEWHERE;
            }
            dataStart = position();
            if (packedMost < 0 || packedMost == ELSEWHERE) {
                // Only the directory says how long the entry is, and that comes later.
                lose(entry.offset());
            } else if (packedMost == 0 || !entry.isReadable()) {
                add(entry.with(entry.crc(), packedMost, entry.unpackedBytes()), packedMost);
            } else {
                step = Step.DATA;
                unpacking.begin();
                storedCrc.reset();
            }
        }

        @Override
        void stream(ByteBuffer bytes) throws NotWhole {
            if (tail != null) {
                tail.take(bytes);
            } else if (step == Step.DATA) {
                ByteBuffer data = bytes.slice(bytes.position(), (int) Math.min(bytes.remaining(), packedMost - packed));
                boolean ended = data(data);
                packed += data.position();
                bytes.position(bytes.position() + data.position());
                if (ended) {
                    endData();
                } else if (packed == packedMost) {
                    throw damaged();
                }
            } else {
                super.stream(bytes);
            }
        }

        /** Takes data up to the end of the entry, and returns whether this is reached. */
        private boolean data(ByteBuffer data) throws NotWhole {
            if (entry.method() == STORED) {
                storedCrc.update(data);
                return packed + data.position() == packedMost;
            }
            try {
                return unpacking.take(data);
            } catch (DataFormatException e) {
                if (folder && entry.lengthsFollow()) {
                    // Some programs call folders deflated, and write no data.
                    lose(entry.offset());
                    return false;
                }
                throw damaged();
            }
        }

        private NotWhole damaged() {
            return NotWhole.broken("the data of entry %,d is damaged".formatted(local.count() + 1));
        }

        private void endData() throws NotWhole {
            boolean stored = entry.method() == STORED;
            long crc = stored ? storedCrc.getValue() : unpacking.crc();
            if (!entry.lengthsFollow() && crc != entry.crc()) {
                throw NotWhole.broken("entry %,d does not have its checksum".formatted(local.count() + 1));
            }
            long rest = packedMost == Long.MAX_VALUE ? 0 : packedMost - packed;
            add(entry.with(crc, packed + rest, stored ? packed : unpacking.unpackedBytes()), rest);
        }

        private void add(Entry found, long skip) {
            local.add(found);
            dataEnd = dataStart + found.packedBytes();
            afterData = 0;
            next(entry.lengthsFollow() ? Step.AFTER_DATA : Step.RECORD, skip, RECORD_BYTES);
        }

        /** Looks for the next record at all places where it may be. */
        private void afterData(int record) {
            if (record == LOCAL || record == CENTRAL) {
                record(record);
                return;
            }
            afterData++;
            if (afterData < AFTER_DATA_BYTES.length) {
                int ahead = AFTER_DATA_BYTES[afterData] - AFTER_DATA_BYTES[afterData - 1];
                next(Step.AFTER_DATA, ahead - RECORD_BYTES, RECORD_BYTES);
            } else {
                lose(
                        dataEnd,
                        Arrays.stream(AFTER_DATA_BYTES)
                                .mapToLong(after -> dataEnd + after)
                                .toArray());
            }
        }

        private void central(ByteBuffer header) throws NotWhole {
            entry = Entry.read(header, 8 - RECORD_BYTES, u32(header, 42 - RECORD_BYTES));
            int names = u16(header, 28 - RECORD_BYTES);
            int extra = u16(header, 30 - RECORD_BYTES);
            commentBytes = u16(header, 32 - RECORD_BYTES);
            if (extra == 0) {
                addCentral(entry, names);
            } else {
                next(Step.CENTRAL_EXTRA, names, extra);
            }
        }

        private void addCentral(Entry listed, int skip) {
            central.add(listed);
            next(Step.RECORD, skip + commentBytes, RECORD_BYTES);
        }

        private void end64(ByteBuffer end) throws NotWhole {
            long64 = Last.of64(end, -RECORD_BYTES);
            // The record counts its bytes from here on.
            long more = end.getLong(4 - RECORD_BYTES) - (END_64_BYTES - 12);
            if (more < 0) {
                throw NotWhole.unknown();
            }
            next(Step.RECORD, more, RECORD_BYTES);
        }

        private void end(ByteBuffer end) throws NotWhole {
            Last last = Last.of(end, -RECORD_BYTES, long64);
            long start = directoryStart < 0 ? directoryEnd : directoryStart;
            last.compare(central.count());
            local.compare(central, (int) start - last.offset());
            last.compareBytes(directoryEnd - start);
            step = Step.PASSED;
            skip(u16(end, 20 - RECORD_BYTES));
        }

        @Override
        void end(long left) throws NotWhole {
            unpacking.close();
            if (tail != null) {
                ByteBuffer last = tail.last();
                ZipDirectory.judge(last, position() - last.limit(), local, lostAt, noEntry);
            } else if (step != Step.PASSED) {
                throw NotWhole.broken(
                        "it ends after %,d bytes, before its directory is complete".formatted(position()));
            } else if (left > 0) {
                throw NotWhole.broken("it ends in the middle of its comment");
            }
        }
    }
}
