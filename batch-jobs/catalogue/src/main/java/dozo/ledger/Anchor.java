package dozo.ledger;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Number, hash and time of a ledger row. A copy is kept in a file at a site, so that somebody who can only write to the
 * database cannot truncate or rewrite the ledger unnoticed (ADR 0026).
 *
 * @param seq from 1 on
 * @param at in whole microseconds
 */
public record Anchor(long seq, Digest hash, Instant at) {

    /** The folder of the anchors at a site, below its root. */
    public static final FilePath FOLDER = FilePath.of(".dozo/ledger");

    /** An upper bound for the length of an anchor's line. */
    public static final int LINE_BYTES_MAX = 256;

    private static final Pattern NAME = Pattern.compile("[0-9]{12,19}");
    private static final Pattern LINE = Pattern.compile("([1-9][0-9]{0,18}) ([0-9a-f]{64}) ([0-9TZ:.-]{27})\n");

    public Anchor {
        if (seq < 1) {
            throw new IllegalArgumentException("expected a row number of at least 1, not " + seq);
        }
    }

    /** Parses the content of an anchor file; empty if {@link #line} cannot have written it. */
    public static Optional<Anchor> of(byte[] content) {
        Matcher line = LINE.matcher(new String(content, StandardCharsets.ISO_8859_1));
        if (!line.matches()) {
            return Optional.empty();
        }
        try {
            Anchor read = new Anchor(
                    Long.parseLong(line.group(1)), Digest.ofHex(line.group(2)), Instant.parse(line.group(3)));
            return Optional.of(read);
        } catch (NumberFormatException | DateTimeException notOurs) {
            return Optional.empty();
        }
    }

    /** Returns the path of a row's anchor file at a site, below the site's root. */
    public static FilePath file(long seq) {
        return FOLDER.resolve("%012d".formatted(seq));
    }

    /** Returns the number of the row whose anchor file has this name; empty if it is not an anchor's name. */
    public static Optional<Long> seq(FilePath file) {
        String name = FilePath.render(file.name());
        try {
            return NAME.matcher(name).matches() && file(Long.parseLong(name)).equals(file)
                    ? Optional.of(Long.parseLong(name))
                    : Optional.empty();
        } catch (NumberFormatException tooLarge) {
            return Optional.empty();
        }
    }

    /**
     * Returns number, hash and time as a line of ASCII for people and programs. {@code psql} can also produce it from a
     * row.
     */
    public byte[] line() {
        return "%d %s %s\n".formatted(seq, hash, RowHash.time(at)).getBytes(StandardCharsets.US_ASCII);
    }
}
