package dozo.suggest;

import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Recordings and markers of KIT's and Yokogawa's MEG systems: {@code .con}, {@code .sqd}, {@code .raw}, {@code .ave},
 * {@code .mrk}. Little-endian. The file begins with a directory of entries, each with offset, size of an item, capacity
 * in items, and number of items (4 bytes each). The first entry is the directory itself, the second the system:
 * version, revision, number of the system, its name and model (128 bytes each), channels, a comment (256 bytes), and
 * the times of creation and last change, in seconds since 1970.
 *
 * <p>Derived from the reader in MNE-Python 8aa8dec4, {@code mne/io/kit/kit.py} ({@code _read_dirs},
 * {@code get_kit_info}), which takes the time of creation as the date of the measurement.
 */
final class Kit {

    private static final int ENTRY_BYTES = 16;
    private static final int ENTRIES_MAX = 1_024;
    private static final int CHANNELS_AT = 268;
    private static final int CREATED_AT = 528;
    private static final int HEADER_BYTES = 536;
    private static final int VERSION_MAX = 9;
    private static final int REVISION_MAX = 999;
    private static final int CHANNELS_MAX = 4_096;

    private Kit() {}

    /** Returns the beginning of the system's entry; empty if the file is not one of KIT's. */
    static Optional<ByteBuffer> header(OpenFile file) throws IOException {
        ByteBuffer directory = little(Recording.bytes(file, 0, 2 * ENTRY_BYTES));
        if (directory == null || !isDirectory(directory)) {
            return Optional.empty();
        }
        ByteBuffer system =
                little(Recording.bytes(file, Integer.toUnsignedLong(directory.getInt(ENTRY_BYTES)), HEADER_BYTES));
        return system != null && isSystem(system) ? Optional.of(system) : Optional.empty();
    }

    static Optional<Instant> createdAt(ByteBuffer header) {
        return Recording.moment(header.getInt(CREATED_AT));
    }

    private static boolean isDirectory(ByteBuffer directory) {
        int room = directory.getInt(8);
        int entries = directory.getInt(12);
        return directory.getInt(0) == 0
                && directory.getInt(4) == ENTRY_BYTES
                && entries >= 2
                && entries <= room
                && room <= ENTRIES_MAX
                && Integer.toUnsignedLong(directory.getInt(ENTRY_BYTES)) >= (long) entries * ENTRY_BYTES
                && directory.getInt(ENTRY_BYTES + 4) >= HEADER_BYTES;
    }

    private static boolean isSystem(ByteBuffer system) {
        return Recording.between(system.getInt(0), 1, VERSION_MAX)
                && Recording.between(system.getInt(4), 0, REVISION_MAX)
                && Recording.between(system.getInt(CHANNELS_AT), 1, CHANNELS_MAX);
    }

    private static @Nullable ByteBuffer little(Optional<ByteBuffer> bytes) {
        return bytes.map(each -> each.order(ByteOrder.LITTLE_ENDIAN)).orElse(null);
    }
}
