package dozo.ledger;

import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The append-only, hash-chained record of what happened. Whoever changes something appends here in the same
 * transaction; the database chains the rows and refuses to change them.
 */
@Component
public class Ledger {

    /** Who acts when nobody asked: the schedule, a recovery. */
    public static final String SYSTEM = "dozo";

    private final JdbcClient jdbc;
    private final InstantSource clock;

    /** One row. {@code detail} is JSON text. */
    public record LedgerEntry(long seq, Instant at, String actor, String action, String subject, String detail) {}

    public Ledger(JdbcClient jdbc, InstantSource clock) {
        this.jdbc = jdbc;
        this.clock = clock;
    }

    /**
     * Appends what {@code actor} did.
     *
     * @param action what was done to what, as {@code "experiment.registered"}
     * @param detail more of it, in any order; never a person's name
     */
    public void append(String actor, String action, String subject, Map<String, ?> detail) {
        jdbc.sql("""
                        insert into ledger (at, actor, action, subject, detail)
                        values (:at, :actor, :action, :subject, jsonb_object(:keys::text[], :values::text[]))
                        """)
                .param("at", Timestamp.from(clock.instant()))
                .param("actor", actor)
                .param("action", action)
                .param("subject", subject)
                .param("keys", detail.keySet().toArray(String[]::new))
                .param("values", detail.values().stream().map(String::valueOf).toArray(String[]::new))
                .update();
    }

    /** At most {@code limit} rows after {@code seq}, oldest first. */
    public List<LedgerEntry> after(long seq, int limit) {
        return jdbc.sql(
                        "select seq, at, actor, action, subject, detail::text from ledger where seq > :seq order by seq limit :limit")
                .param("seq", seq)
                .param("limit", limit)
                .query((row, n) -> new LedgerEntry(
                        row.getLong("seq"),
                        row.getTimestamp("at").toInstant(),
                        row.getString("actor"),
                        row.getString("action"),
                        row.getString("subject"),
                        row.getString("detail")))
                .list();
    }
}
