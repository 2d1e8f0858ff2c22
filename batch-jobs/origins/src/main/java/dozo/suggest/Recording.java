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
 * A recording of MEG, recognised by its bytes and not by its name alone. The bytes come from outside: a length in them is only a place
 * to look at, and what does not fit is no recording.
 *
 * @param day when it was recorded; null: its header does not say
 */
record Recording(@Nullable LocalDate day) {

    private static final List<String> KIT = List.of(".con", ".sqd", ".raw", ".ave", ".mrk");

    /**
     * Returns what a file records, of one of the forms that its name allows.
     *
     * @param name in lower case
     * @param zone in which a moment is on a day, where a header says a moment
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

    /** Whether 4D's software gives data such a name: {@code c,rfDC}, {@code e,rfhp1.0Hz,COH}. */
    static boolean isBtiName(String name) {
        return name.contains(",rf");
    }

    static Recording at(Optional<Instant> moment, ZoneId zone) {
        return new Recording(moment.map(at -> at.atZone(zone).toLocalDate()).orElse(null));
    }

    /** So many bytes from a place on, all of them, big-endian; nothing where the file does not reach so far. */
    static Optional<ByteBuffer> bytes(OpenFile file, long at, int length) throws IOException {
        if (at < 0) {
            return Optional.empty();
        }
        ByteBuffer bytes = ByteBuffer.allocate(length);
        file.read(bytes, at);
        return bytes.hasRemaining() ? Optional.empty() : Optional.of(bytes);
    }

    /** A moment in seconds since 1970, as these machines keep it; 0 and less are what is there when nobody has set it. */
    static Optional<Instant> moment(int seconds) {
        return seconds > 0 ? Optional.of(Instant.ofEpochSecond(seconds)) : Optional.empty();
    }

    static boolean between(int value, int least, int most) {
        return value >= least && value <= most;
    }

    /** A field of text, up to its first NUL. */
    static String text(ByteBuffer bytes, int at, int length) {
        byte[] raw = new byte[length];
        bytes.get(at, raw);
        String field = new String(raw, StandardCharsets.ISO_8859_1);
        int end = field.indexOf('\0');
        return (end < 0 ? field : field.substring(0, end)).strip();
    }
}
