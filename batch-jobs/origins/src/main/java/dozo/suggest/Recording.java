package dozo.suggest;

import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An MEG recording, recognised by its bytes and not only by its name. The bytes are untrusted: a length in them is used
 * only as a position to read at, and a file with implausible values is not a recording.
 *
 * @param day of the recording; null if its header does not state it
 */
record Recording(@Nullable LocalDate day) {

    private static final List<String> KIT = List.of(".con", ".sqd", ".raw", ".ave", ".mrk");

    /**
     * Recognises a recording in one of the formats that its name allows.
     *
     * @param name in lower case
     * @param zone used to turn a point in time in a header into a day
     */
    static Optional<Recording> of(String name, OpenFile file, ZoneId zone) throws IOException {
        if (name.endsWith(".fif")) {
            return Fif.isFif(file) ? Optional.of(at(Fif.measuredAt(file), zone)) : Optional.empty();
        }
        if (KIT.stream().anyMatch(name::endsWith)) {
            return Kit.header(file).map(header -> at(Kit.createdAt(header), zone));
        }
        if (name.endsWith(".res4")) {
            return Ctf.resource(file).map(header -> new Recording(Ctf.day(header)));
        }
        if (name.endsWith(".meg4")) {
            return Ctf.isData(file) ? Optional.of(new Recording(null)) : Optional.empty();
        }
        return isBtiName(name) ? Bti.recording(file, zone) : Optional.empty();
    }

    /** Returns whether 4D's software gives data such a name: {@code c,rfDC}, {@code e,rfhp1.0Hz,COH}. */
    static boolean isBtiName(String name) {
        return name.contains(",rf");
    }

    static Recording at(Optional<Instant> moment, ZoneId zone) {
        return new Recording(moment.map(at -> at.atZone(zone).toLocalDate()).orElse(null));
    }

    /** Returns exactly so many bytes from a position, big-endian; empty if the file ends before. */
    static Optional<ByteBuffer> bytes(OpenFile file, long at, int length) throws IOException {
        if (at < 0) {
            return Optional.empty();
        }
        ByteBuffer bytes = ByteBuffer.allocate(length);
        file.read(bytes, at);
        return bytes.hasRemaining() ? Optional.empty() : Optional.of(bytes);
    }

    /**
     * Returns a time in seconds since 1970, as these machines store it; 0 and negative values mean that it was never
     * set.
     */
    static Optional<Instant> moment(int seconds) {
        return seconds > 0 ? Optional.of(Instant.ofEpochSecond(seconds)) : Optional.empty();
    }

    static boolean between(int value, int least, int most) {
        return value >= least && value <= most;
    }

    /** Returns a text field, up to its first NUL. */
    static String text(ByteBuffer bytes, int at, int length) {
        byte[] raw = new byte[length];
        bytes.get(at, raw);
        String field = new String(raw, StandardCharsets.ISO_8859_1);
        int end = field.indexOf('\0');
        return (end < 0 ? field : field.substring(0, end)).strip();
    }
}
