package dozo.collect;

import dozo.collect.Arrivals.Arrival;
import dozo.collect.Arrivals.Dismissal;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.Reason;
import dozo.registry.Refusal;
import java.sql.Timestamp;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Dismissed proposals: those that shall not become experiments. A dismissed proposal is no longer described, proposed
 * or accepted, whatever happens to it in its origin. It stays known and counted, with who dismissed it and why, and the
 * dismissal can be undone.
 */
@Component
public class Dismissals {

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
     * Dismisses a proposal. The ledger records everything except the reason, which is a person's own words.
     *
     * @return the changed arrival; empty if there is none in sight
     * @throws Refusal if it is an experiment or dismissed already, or for the field {@code reason}
     */
    @Transactional
    public Optional<Arrival> dismiss(Sight sight, long id, String reason, String by) {
        String text = Reason.of(reason).text();
        Optional<Arrival> found = arrivals.lock(sight, id);
        if (found.isEmpty()) {
            return found;
        }
        Arrival arrival = found.get();
        if (arrival.experiment() != null) {
            throw Refusal.conflict(
                    "arrival",
                    "%s of %s is already an experiment and cannot be dismissed",
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
     * Undoes a dismissal; the next night describes the proposal.
     *
     * @return the changed arrival; empty if there is none in sight
     * @throws Refusal if it is not dismissed
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
        Map<String, ?> details = Arrivals.details(arrival.origin(), arrival.item(), before, after);
        ledger.append(by, action, String.valueOf(arrival.id()), details);
    }
}
