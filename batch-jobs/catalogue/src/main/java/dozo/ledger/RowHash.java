package dozo.ledger;

import dozo.file.Digest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Computes the hash of a ledger row from its columns. It does not use the database's {@code ledger_hash}, because
 * whoever can change rows can change that function too. It is stricter where different rows would produce the same
 * text: for the year and the action.
 */
final class RowHash {

    private static final String SEPARATOR = "\u001f";
    private static final Pattern ACTION = Pattern.compile("[a-z]+\\.[a-z]+");
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999Z");

    private RowHash() {}

    /**
     * Returns the hash of a row with these columns.
     *
     * @param previous the hash of the previous row; empty for the first
     * @return empty if no appended row can have such columns
     */
    static Optional<Digest> of(byte[] previous, long seq, Row row) {
        String actor = row.actor();
        String action = row.action();
        String subject = row.subject();
        Instant at = row.at();
        if (actor == null || action == null || subject == null || row.detail() == null || at == null) {
            return Optional.empty();
        }
        if (!isTime(at) || !ACTION.matcher(action).matches()) {
            return Optional.empty();
        }
        String text = String.join(
                SEPARATOR, String.valueOf(seq), time(at), counted(actor), action, counted(subject), row.detail());
        MessageDigest digest = Digest.algorithm();
        digest.update(previous);
        return Optional.of(Digest.of(digest.digest(text.getBytes(StandardCharsets.UTF_8))));
    }

    /** Formats a time as it enters the hash: UTC, always six decimals. */
    static String time(Instant at) {
        return TIME.format(at);
    }

    /** Returns whether the text identifies the time: PostgreSQL writes a year BC like a year AD. */
    private static boolean isTime(Instant at) {
        return !at.isBefore(FIRST) && !at.isAfter(LAST);
    }

    private static String counted(String text) {
        return text.codePointCount(0, text.length()) + ":" + text;
    }

    /** A row as stored in the table, no matter who wrote it. */
    @SuppressWarnings("ArrayRecordComponent") // is only passed between methods
    record Row(
            @Nullable Long seq,
            @Nullable Instant at,
            @Nullable String actor,
            @Nullable String action,
            @Nullable String subject,
            @Nullable String detail,
            byte @Nullable [] hash) {

        boolean fits(byte[] previous, long place) {
            return hasHash(RowHash.of(previous, place, this).orElse(null));
        }

        /** Returns number, hash and time; empty if no appended row can have them. */
        Optional<Anchor> anchor() {
            return seq == null
                            || seq < 1
                            || at == null
                            || !isTime(at)
                            || hash == null
                            || hash.length != Digest.LENGTH_BYTES
                    ? Optional.empty()
                    : Optional.of(new Anchor(seq, Digest.of(hash), at));
        }

        boolean hasHash(@Nullable Digest other) {
            return hash != null && other != null && Arrays.equals(hash, other.bytes());
        }
    }
}
