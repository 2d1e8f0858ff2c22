package dozo.suggest;

import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Optional;

/**
 * Recordings of the MEG systems of BTi and 4D-Neuroimaging: a folder with {@code config}, often {@code hs_file}, and
 * data such as {@code c,rfDC}. Big-endian. The header of the data is at the end of the file, and the last 8 bytes give
 * its position. It has 96 bytes, then 56 for each epoch, 104 for each channel, 72 for each event, then the processing
 * steps of the data. The first process created the file. Its time is in seconds since 1970, after its length (4 bytes),
 * kind (20), checksum (4) and user (32). The header's own time stamp is 0 in all files that were available.
 *
 * <p>Derived from the reader in MNE-Python 8aa8dec4, {@code mne/io/bti/bti.py} ({@code _read_bti_header_pdf},
 * {@code _read_process}; {@code _get_bti_info} takes the first process's time as the date of the measurement).
 */
final class Bti {

    private static final int PLACE_BYTES = 8;

    /** In files below 2 GiB, only these bits of the position count. */
    private static final long PLACE_MASK = Integer.MAX_VALUE;

    private static final int HEADER_BYTES = 96;
    private static final int EPOCH_BYTES = 56;
    private static final int CHANNEL_BYTES = 104;
    private static final int EVENT_BYTES = 72;
    private static final int PROCESS_BYTES = 64;
    private static final int KIND_AT = 4;
    private static final int KIND_BYTES = 20;
    private static final int TIME_AT = 60;
    private static final int COUNT_MAX = 1_000_000;
    private static final int CHANNELS_MAX = 4_096;

    private Bti() {}

    /** Returns the recording, with its day if stated; empty if the file has another format. */
    static Optional<Recording> recording(OpenFile file, ZoneId zone) throws IOException {
        long end = file.factsWhenOpened().sizeBytes() - PLACE_BYTES;
        Optional<ByteBuffer> place = Recording.bytes(file, end, PLACE_BYTES);
        if (place.isEmpty()) {
            return Optional.empty();
        }
        long at = headerAt(place.get().getLong(0), end);
        Optional<ByteBuffer> header =
                at >= 0 && at <= end - HEADER_BYTES ? Recording.bytes(file, at, HEADER_BYTES) : Optional.empty();
        if (header.filter(Bti::isHeader).isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(Recording.at(firstProcess(file, at, end, header.get()), zone));
    }

    private static long headerAt(long said, long end) {
        long low = said & PLACE_MASK;
        long at = end + PLACE_BYTES - low <= PLACE_MASK ? low : said;
        return at < 0 || at > end ? -1 : (at + 7) / 8 * 8;
    }

    /** Returns whether all known numbers are plausible: the format has no signature. */
    private static boolean isHeader(ByteBuffer header) {
        float period = header.getFloat(28);
        return Recording.between(header.getShort(0), 1, 99)
                && isWord(Recording.text(header, 2, 5))
                && Recording.between(header.getShort(8), 1, 4)
                && Recording.between(header.getInt(12), 0, COUNT_MAX)
                && Recording.between(header.getInt(20), 0, COUNT_MAX)
                && period > 0
                && period < 1
                && Recording.between(header.getInt(48), 0, COUNT_MAX)
                && Recording.between(header.getShort(52), 1, CHANNELS_MAX);
    }

    private static Optional<Instant> firstProcess(OpenFile file, long at, long end, ByteBuffer header)
            throws IOException {
        long process = at
                + HEADER_BYTES
                + (long) header.getInt(12) * EPOCH_BYTES
                + (long) header.getShort(52) * CHANNEL_BYTES
                + (long) header.getInt(20) * EVENT_BYTES;
        if (header.getInt(48) == 0 || process > end - PROCESS_BYTES) {
            return Optional.empty();
        }
        return Recording.bytes(file, process, PROCESS_BYTES)
                .filter(said -> isWord(Recording.text(said, KIND_AT, KIND_BYTES)))
                .flatMap(said -> Recording.moment(said.getInt(TIME_AT)));
    }

    private static boolean isWord(String text) {
        return !text.isEmpty() && text.chars().allMatch(c -> c > ' ' && c <= '~');
    }
}
