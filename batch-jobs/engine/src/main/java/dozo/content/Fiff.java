package dozo.content;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * FIFF of Elekta/Neuromag and MNE (Functional Image File Format; MNE-Python, {@code mne/_fiff}): tags one after the other, each
 * with a header of 16 bytes (kind, type, size in bytes, next; big endian). Tags open and close blocks. A pointer may name a
 * directory of all tags. Programs that edit a file link tags at its end into the middle ({@code next} > 0): such a file is read
 * in its order on disk, and nobody knows what a part means that does not fit.
 */
final class Fiff implements Format {

    private static final int FILE_ID = 100;
    private static final int ID_STRUCT = 31;
    private static final int ID_BYTES = 20;
    private static final int HEADER_BYTES = 16;

    @Override
    public @Nullable Check check(Beginning file) {
        ByteBuffer bytes = file.in(ByteOrder.BIG_ENDIAN);
        boolean fiff = file.reaches(HEADER_BYTES)
                && bytes.getInt(0) == FILE_ID
                && bytes.getInt(4) == ID_STRUCT
                && bytes.getInt(8) == ID_BYTES;
        return fiff ? new Tags() : null;
    }

    private static final class Tags extends Check {

        private static final int POINTER = 101;
        private static final int DIRECTORY = 102;
        private static final int BLOCK_START = 104;
        private static final int BLOCK_END = 105;
        private static final int CHANNELS = 200;
        private static final int DATA = 300;

        /** A block about another file of the same recording; in it, the kind of the tag with that file's name. */
        private static final int REFERENCE = 118;

        private static final int ROLE = 115;
        private static final int NEXT_FILE = 2;
        private static final int NAME_BYTES_MAX = 255;

        /** The value of {@code next} in the last tag. */
        private static final int LAST = -1;

        private static final int ENTRY_BYTES = 16;

        private Step step = Step.TAG;
        private int kind;
        private int sizeBytes;

        /** Where the tag that is read begins, and where the next one should, in bytes from the start of the file. */
        private long at;

        private long due;

        /** Where the directory should be; 0: there is none. */
        private long directory;

        private boolean directorySeen;
        private int directoryLeft;

        /** The first byte after all that the directory and links name. */
        private long named;

        private int depth;
        private int channels;
        private long oddData;
        private boolean reference;
        private int role;
        private String otherFile = "";
        private @Nullable Companions nextPart;
        private boolean last;
        private boolean linked;
        private boolean lost;

        Tags() {
            super("FIFF");
            want(HEADER_BYTES);
        }

        private enum Step {
            TAG,
            VALUE,
            NAME,
            DIRECTORY,
            REST
        }

        @Override
        void part(ByteBuffer bytes) throws NotWhole {
            bytes.order(ByteOrder.BIG_ENDIAN);
            switch (step) {
                case TAG -> tag(bytes);
                case VALUE -> value(bytes.getInt());
                case NAME -> {
                    otherFile = lastPart(StandardCharsets.UTF_8.decode(bytes).toString());
                    nextTag();
                }
                case DIRECTORY -> entries(bytes);
                case REST -> throw new IllegalStateException();
            }
        }

        private void tag(ByteBuffer header) throws NotWhole {
            at = position() - HEADER_BYTES;
            kind = header.getInt();
            int type = header.getInt();
            sizeBytes = header.getInt();
            int next = header.getInt();
            due = position() + Math.max(0, sizeBytes);
            boolean isDirectory = directory > 0 && at == directory;
            boolean missed =
                    isDirectory ? kind != DIRECTORY || sizeBytes < ENTRY_BYTES : at < directory && directory < due;
            if (sizeBytes < 0 || next < LAST || missed || (isLink(next) && !isTag(kind, type))) {
                damaged();
                return;
            }
            follow(next);
            if (isDirectory) {
                directorySeen = true;
                named = Math.max(named, due);
                directoryLeft = sizeBytes / ENTRY_BYTES * ENTRY_BYTES;
                entries(header);
            } else if (sizeBytes >= Integer.BYTES && hasValue()) {
                step = Step.VALUE;
                want(Integer.BYTES);
            } else if (reference && kind == REFERENCE && sizeBytes > 0 && sizeBytes <= NAME_BYTES_MAX) {
                step = Step.NAME;
                want(sizeBytes);
            } else {
                data(type);
                nextTag();
            }
        }

        private boolean hasValue() {
            return switch (kind) {
                case POINTER, BLOCK_START, BLOCK_END, CHANNELS -> true;
                case ROLE -> reference;
                default -> false;
            };
        }

        private static String lastPart(String name) {
            return name.substring(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
                    .strip();
        }

        private boolean isLink(int next) {
            return next > 0 && next != due;
        }

        /** Kinds are small numbers, and so are types, apart from the bits for matrices: else it is data in place of a tag. */
        private static boolean isTag(int kind, int type) {
            return kind >>> 20 == 0 && (type & 0xFF00) == 0;
        }

        private void follow(int next) {
            last |= next == LAST;
            if (isLink(next)) {
                linked = true;
                named = Math.max(named, (long) next + HEADER_BYTES);
            }
        }

        private void value(int value) throws NotWhole {
            switch (kind) {
                case BLOCK_START -> {
                    depth++;
                    reference = value == REFERENCE;
                    role = 0;
                    otherFile = "";
                }
                case BLOCK_END -> {
                    depth--;
                    endReference();
                }
                case ROLE -> role = value;
                case CHANNELS -> channels = value;
                default -> directory = Math.max(0, value);
            }
            if (kind == POINTER && value > 0 && value < due) {
                directory = 0;
                damaged();
            } else {
                nextTag();
            }
        }

        /** People rename the files of a recording, and the names in them stay: without the next part, nothing is proven. */
        private void endReference() {
            if (reference && role == NEXT_FILE && !otherFile.isEmpty()) {
                nextPart = new Companions(List.of(otherFile, otherFile + Companions.PACKED), 0, 0, 0, State.SUSPECT);
            }
            reference = false;
        }

        @Override
        Optional<Relation> relation() {
            return Optional.ofNullable(nextPart);
        }

        /** A buffer has a sample of each channel as often as of the others. */
        private void data(int type) {
            int sampleBytes = switch (type) {
                case 2, 16 -> 2;
                case 3, 4 -> 4;
                case 5, 20 -> 8;
                case 21 -> 16;
                default -> 0;
            };
            if (kind == DATA && oddData == 0 && channels > 0 && sampleBytes > 0) {
                oddData = sizeBytes % ((long) channels * sampleBytes) == 0 ? 0 : at;
            }
        }

        private void entries(ByteBuffer entries) throws NotWhole {
            while (entries.remaining() >= ENTRY_BYTES) {
                long kindAndType = entries.getLong();
                long entryBytes = entries.getInt();
                long place = entries.getInt();
                if (kindAndType == 0 && place == 0) {
                    throw NotWhole.broken("its directory at byte %,d has zeros in place of entries".formatted(at));
                }
                if (place > 0 && entryBytes >= 0) {
                    named = Math.max(named, place + HEADER_BYTES + entryBytes);
                }
            }
            if (directoryLeft > 0) {
                step = Step.DIRECTORY;
                int count = Math.min(directoryLeft, PART_BYTES_MAX);
                directoryLeft -= count;
                want(count);
            } else {
                nextTag();
            }
        }

        /** Goes on after the last tag, too, if a directory follows it, or if links lead behind it. */
        private void nextTag() {
            if (last && !linked) {
                rest();
            } else {
                skip(due - position());
                step = Step.TAG;
                want(HEADER_BYTES);
            }
        }

        private void rest() {
            due = Math.max(due, position());
            if (directory > at && !directorySeen) {
                due = Math.max(due, directory);
                step = Step.TAG;
                want(HEADER_BYTES);
            } else {
                step = Step.REST;
            }
            skip(due - position());
        }

        private void damaged() throws NotWhole {
            if (!linked) {
                throw NotWhole.broken("its part at byte %,d is damaged".formatted(at));
            }
            lost = true;
            due = position();
            step = Step.TAG;
            rest();
        }

        @Override
        void end(long left) throws NotWhole {
            long size = position();
            long needed = Math.max(named, directory > 0 ? directory + HEADER_BYTES : 0);
            if (needed > size) {
                throw NotWhole.broken("it refers to bytes up to %,d, the file has %,d".formatted(needed, size));
            }
            boolean odd = linked && (size < due || depth != 0);
            if (lost || odd || (directory > 0 && !directorySeen)) {
                throw NotWhole.unknown();
            }
            if (size < due) {
                throw NotWhole.broken(
                        "its part at byte %,d should end at byte %,d, the file has %,d".formatted(at, due, size));
            }
            if (depth > 0 && !last) {
                throw NotWhole.broken("it ends before %,d of its blocks are closed".formatted(depth));
            }
            suspect(size);
        }

        private void suspect(long size) throws NotWhole {
            if (depth != 0) {
                throw NotWhole.suspect("its blocks do not begin and end in pairs");
            }
            if (step != Step.REST && size > due) {
                throw NotWhole.suspect("%,d bytes follow its last part".formatted(size - due));
            }
            if (oddData > 0) {
                throw NotWhole.suspect(
                        "its data at byte %,d are no multiple of its %,d channels".formatted(oddData, channels));
            }
        }
    }
}
