package dozo.collect;

import dozo.collect.Arrivals.Arrival;
import dozo.collect.Arrivals.Dismissal;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.Code;
import dozo.registry.Refusal;
import java.sql.Timestamp;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Proposals that nobody wants as experiments. A dismissed one is not described, proposed or accepted any more, whatever becomes of it in
 * its origin; it is known and counted all the same, with who said so and why, and can be taken back.
 */
@Component
public class Dismissals {

    private static final int REASON_LENGTH_MAX = 500;

    private final JdbcClient jdbc;
    private final Arrivals arrivals;
    private final Ledger ledger;
    private final InstantSource clock;

    Dismissals(JdbcClient jdbc, Arrivals arrivals, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.arrivals = arrivals;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Keeps who does not want a proposal, and why. The ledger has all but the reason, which is a person's own words.
     *
     * @return the arrival as it is then, nothing if there is none, or it is not seen
     * @throws Refusal when it is an experiment or dismissed already, or of the field {@code reason}
     */
    @Transactional
    public Optional<Arrival> dismiss(Sight sight, long id, String reason, String by) {
        String text = checked(reason);
        Optional<Arrival> found = arrivals.lock(sight, id);
        if (found.isEmpty()) {
            return found;
        }
        Arrival arrival = found.get();
        if (arrival.experiment() != null) {
            throw Refusal.conflict(
                    "arrival",
                    "%s of %s is an experiment already and cannot be dismissed",
                    arrival.item(),
                    arrival.origin());
        }
        Dismissal before = arrival.dismissal();
        if (before != null) {
            throw Refusal.conflict(
                    "arrival",
                    "%s of %s has already been dismissed by %s",
                    arrival.item(),
                    arrival.origin(),
                    before.by());
        }
        jdbc.sql("""
                        update arrival
                        set dismissed_at = :now, dismissed_by = :by, dismissed_reason = :reason, waiting = false
                        where arrival_id = :id
                        """)
                .param("now", Timestamp.from(clock.instant()))
                .param("by", by)
                .param("reason", text)
                .param("id", id)
                .update();
        append(by, "arrival.dismissed", arrival, "proposal", "dismissed");
        return arrivals.find(sight, id);
    }

    /**
     * Makes a proposal of it again, which the next night describes.
     *
     * @return the arrival as it is then, nothing if there is none, or it is not seen
     * @throws Refusal when it is not dismissed
     */
    @Transactional
    public Optional<Arrival> takeBack(Sight sight, long id, String by) {
        Optional<Arrival> found = arrivals.lock(sight, id);
        if (found.isEmpty()) {
            return found;
        }
        Arrival arrival = found.get();
        if (arrival.dismissal() == null) {
            throw Refusal.conflict("arrival", "%s of %s is not dismissed", arrival.item(), arrival.origin());
        }
        jdbc.sql("""
                        update arrival
                        set dismissed_at = null, dismissed_by = null, dismissed_reason = null, waiting = state <> 'GONE'
                        where arrival_id = :id
                        """).param("id", id).update();
        append(by, "arrival.proposed", arrival, "dismissed", "proposal");
        return arrivals.find(sight, id);
    }

    private void append(String by, String action, Arrival arrival, String before, String after) {
        ledger.append(
                by,
                action,
                String.valueOf(arrival.id()),
                Map.of("origin", arrival.origin(), "item", arrival.item(), "before", before, "after", after));
    }

    private static String checked(String reason) {
        String text = reason.strip();
        if (text.isEmpty() || text.codePointCount(0, text.length()) > REASON_LENGTH_MAX || !Code.isText(text)) {
            throw new Refusal(
                    "reason",
                    "expected a reason for the dismissal: one line of 1 to %d characters without control characters",
                    REASON_LENGTH_MAX);
        }
        return text;
    }
}
