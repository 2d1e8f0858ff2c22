package dozo.record;

import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The first line of a record.
 *
 * @param schema the version of the database's last migration
 * @param experiment {@code project/experiment}; null: a base record
 * @param number the name of its file
 * @param continues the record before it; null: it is the first
 * @param key the public key that it is signed with: DER in Base64
 * @param sequences the last number of each sequence; of a base record only
 */
record Header(
        String schema,
        int site,
        @Nullable String experiment,
        long number,
        @Nullable Link continues,
        Instant writtenAt,
        String key,
        Map<String, Long> sequences) {

    static final String BEGIN = "-- Dozo catalogue record 1 ";

    private static final FilePath FOLDER = FilePath.of(".dozo/catalogue");
    private static final Pattern NAME = Pattern.compile("([1-9][0-9]{0,17})\\.age");
    private static final JsonMapper JSON = JsonMapper.shared();

    /** Another record: its number and the SHA-256 of its file, in hexadecimal digits. */
    record Link(long number, String sha256) {}

    /** Returns the folder with the records of an experiment at a site; of base records for null. */
    static FilePath folder(@Nullable String experiment) {
        return experiment == null ? FOLDER : FOLDER.resolve(experiment);
    }

    static FilePath file(@Nullable String experiment, long number) {
        return folder(experiment).resolve(number + ".age");
    }

    /** Returns the highest number of these files; empty if none is a record. */
    static Optional<Long> highest(Collection<FilePath> files) {
        return files.stream().flatMap(file -> number(file).stream()).max(Comparator.naturalOrder());
    }

    /** Returns the number of a record by the name of its file; empty if that is not one of a record. */
    static Optional<Long> number(FilePath file) {
        Matcher name = NAME.matcher(new String(file.name(), StandardCharsets.ISO_8859_1));
        return name.matches() ? Optional.of(Long.parseLong(name.group(1))) : Optional.empty();
    }

    FilePath file() {
        return file(experiment, number);
    }

    /** Returns the public key in DER. */
    byte[] signer() {
        return Base64.getDecoder().decode(key);
    }

    String line() {
        return BEGIN + JSON.writeValueAsString(this) + "\n";
    }

    /** Parses a first line; empty if it is not one. */
    static Optional<Header> of(String line) {
        try {
            return line.startsWith(BEGIN)
                    ? Optional.of(JSON.readValue(line.substring(BEGIN.length()), Header.class))
                    : Optional.empty();
        } catch (JacksonException e) {
            return Optional.empty();
        }
    }

    /** Returns what is signed: the SHA-256 of everything in the record before the signature. */
    static byte[] signed(String sha256) {
        return ("Dozo catalogue record 1\n" + sha256 + "\n").getBytes(StandardCharsets.US_ASCII);
    }
}
