package dozo.ledger;

import dozo.file.Digest;
import dozo.ledger.Breach.Kind;
import dozo.ledger.RowHash.Row;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Checks the ledger's hash chain: whether every row is as it was appended, in its place. Finds edits, removals and
 * reordering anywhere, except two cases that only an {@link Anchor} kept elsewhere shows: rows cut off the end, and a
 * completely rewritten chain.
 */
@Component
public class Chain {

    private static final int FETCH = 1_000;
    private static final byte[] NOTHING = {};

    private final JdbcClient jdbc;

    /**
     * The result of checking the chain.
     *
     * @param rows the number of rows; all were checked
     * @param head the last row as stored; null: there is none, or it cannot have been appended
     * @param breaches the first hundred, in the order of the rows
     * @param breachesCount the number of all breaches
     */
    public record Checked(long rows, @Nullable Anchor head, List<Breach> breaches, long breachesCount) {}

    public Chain(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Checks every row in one snapshot. The transaction lets the rows be streamed. */
    @Transactional(readOnly = true)
    public Checked check() {
        Walk walk = new Walk();
        try (Stream<Row> rows = rows()) {
            rows.forEach(walk::step);
        }
        Row edited = walk.firstEdited;
        List<Breach> breaches = walk.breaches.kept().stream()
                .map(breach -> edited != null && Objects.equals(breach.seq(), edited.seq())
                        ? explained(breach, edited)
                        : breach)
                .toList();
        return new Checked(walk.rows, walk.head, breaches, walk.breaches.count());
    }

    /**
     * Walks the rows. Each is checked against the stored hash of the previous row, so that one breach is reported once.
     */
    private static final class Walk {

        private final Breaches breaches = new Breaches();
        private long rows;
        private long next = 1;
        private byte[] previous = NOTHING;
        private @Nullable Anchor head;
        private @Nullable Row firstEdited;

        void step(Row row) {
            rows++;
            Long seq = row.seq();
            if (seq == null || seq < next) {
                breaches.add(new Breach(
                        Kind.OUT_OF_ORDER, seq, "row %s found where row %d was expected".formatted(seq, next)));
            } else if (seq > next) {
                breaches.add(new Breach(Kind.MISSING, next, missing(next, seq - 1)));
            } else if (!row.fits(previous, seq)) {
                firstEdited = firstEdited == null ? row : firstEdited;
                breaches.add(new Breach(
                        Kind.EDITED,
                        seq,
                        "row %d was changed after it was appended: its hash does not match its columns and the previous row"
                                .formatted(seq)));
            }
            head = row.anchor().orElse(null);
            previous = row.hash() == null ? NOTHING : row.hash();
            next = seq == null ? next : seq + 1;
        }

        private static String missing(long first, long last) {
            return first == last
                    ? "row %d is missing".formatted(first)
                    : "rows %d to %d are missing".formatted(first, last);
        }
    }

    /** Explains an edited row: a row that does not fit its place may have been appended at another one. */
    private Breach explained(Breach edited, Row row) {
        OptionalLong place = edited.kind() == Kind.EDITED ? placeOf(row) : OptionalLong.empty();
        return place.isEmpty()
                ? edited
                : new Breach(
                        Kind.OUT_OF_ORDER,
                        edited.seq(),
                        "row %d was originally appended as row %d".formatted(edited.seq(), place.getAsLong()));
    }

    /**
     * Returns the place where a row fits: after an existing row, with its own hash or with that of the row now in that
     * place.
     */
    private OptionalLong placeOf(Row strange) {
        byte[] previous = NOTHING;
        long previousSeq = 0;
        try (Stream<Row> rows = rows()) {
            for (Iterator<Row> all = rows.iterator(); all.hasNext(); ) {
                Row row = all.next();
                OptionalLong place = placeBehind(previous, previousSeq, strange, row);
                if (place.isPresent()) {
                    return place;
                }
                previous = row.hash() == null ? NOTHING : row.hash();
                previousSeq = row.seq() == null ? previousSeq : row.seq();
            }
        }
        return placeBehind(previous, previousSeq, strange, null);
    }

    private static OptionalLong placeBehind(byte[] previous, long previousSeq, Row strange, @Nullable Row there) {
        // The previous row may have been moved to this row's original place; then their numbers are the same.
        for (long place : new long[] {previousSeq + 1, previousSeq}) {
            if (place < 1 || Objects.equals(place, strange.seq())) {
                continue;
            }
            Digest hash = RowHash.of(previous, place, strange).orElse(null);
            // If the row in that place fits there, both have the same content, and nothing was moved.
            boolean another = there != null && there.hasHash(hash) && !there.fits(previous, place);
            if (strange.hasHash(hash) || another) {
                return OptionalLong.of(place);
            }
        }
        return OptionalLong.empty();
    }

    private Stream<Row> rows() {
        return jdbc
                .sql("select seq, at, actor, action, subject, detail, hash from ledger order by seq")
                .withFetchSize(FETCH)
                .query((row, n) -> row(row))
                .stream();
    }

    private static Row row(ResultSet row) throws SQLException {
        OffsetDateTime at = row.getObject("at", OffsetDateTime.class);
        return new Row(
                row.getObject("seq", Long.class),
                at == null ? null : at.toInstant(),
                row.getString("actor"),
                row.getString("action"),
                row.getString("subject"),
                row.getString("detail"),
                row.getBytes("hash"));
    }
}
