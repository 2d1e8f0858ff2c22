package dozo.worklist;

import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.registry.Refusal;
import dozo.worklist.JudgedBooking.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Reads the worklist automatically and records the result: after a long time without a reading, all new visits look
 * unplanned. If a reading fails, the bookings read before stay.
 */
public class WorklistReadings {

    /**
     * After this time without a reading the log level rises, and the message is repeated each time it has passed again.
     */
    static final Duration LONG = Duration.ofHours(24);

    private static final Logger LOG = LoggerFactory.getLogger(WorklistReadings.class);
    private static final int MESSAGE_LENGTH_MAX = 1_000;

    private final JdbcClient jdbc;
    private final Worklist worklist;
    private final int daysAhead;
    private final InstantSource clock;
    private final ZoneId zone;

    /**
     * The last reading.
     *
     * @param readAt when the worklist was last read; null if never. {@code booked} and the other counts are of that
     * reading
     * @param failingSince the first failed attempt since then; null if the last attempt succeeded
     * @param message why the last attempt failed; empty if it succeeded
     */
    public record Reading(
            Instant triedAt,
            @Nullable Instant readAt,
            @Nullable Instant failingSince,
            String message,
            long booked,
            long changed,
            long unchanged,
            long refused) {}

    /** @param daysAhead the period that is read: from yesterday to so many days after today */
    public WorklistReadings(JdbcClient jdbc, Worklist worklist, int daysAhead, InstantSource clock, ZoneId zone) {
        this.jdbc = jdbc;
        this.worklist = worklist;
        this.daysAhead = daysAhead;
        this.clock = clock;
        this.zone = zone;
    }

    /** Returns whether a worklist is configured. */
    public boolean isThere() {
        return worklist.isThere();
    }

    /** Returns the last reading; empty if none was attempted yet. */
    public Optional<Reading> last() {
        return jdbc.sql("select * from worklist_reading")
                .query(Rows.of(Reading.class))
                .optional();
    }

    /** Reads and stores the bookings from yesterday on. A failure is stored and logged, not thrown. */
    public Reading read() {
        Optional<Reading> before = last();
        LocalDate today = clock.instant().atZone(zone).toLocalDate();
        Reading now;
        try {
            now = done(worklist.read(today.minusDays(1), today.plusDays(daysAhead), Ledger.SYSTEM));
            LOG.info(
                    "worklist read: {} bookings new, {} changed, {} unchanged, {} refused",
                    now.booked,
                    now.changed,
                    now.unchanged,
                    now.refused);
        } catch (WorklistException | Refusal failure) {
            now = failed(before.orElse(null), String.valueOf(failure.getMessage()));
            tell(before.orElse(null), now);
        }
        keep(now);
        return now;
    }

    private Reading done(Bookings.Answer answer) {
        Instant at = clock.instant();
        return new Reading(
                at,
                at,
                null,
                "",
                answer.count(Outcome.BOOKED),
                answer.count(Outcome.CHANGED),
                answer.count(Outcome.UNCHANGED),
                answer.count(Outcome.REFUSED));
    }

    private Reading failed(@Nullable Reading before, String why) {
        Instant at = clock.instant();
        String message = why.substring(0, Math.min(why.length(), MESSAGE_LENGTH_MAX));
        return before == null
                ? new Reading(at, null, at, message, 0, 0, 0, 0)
                : new Reading(
                        at,
                        before.readAt,
                        before.failingSince == null ? at : before.failingSince,
                        message,
                        before.booked,
                        before.changed,
                        before.unchanged,
                        before.refused);
    }

    /** Logs the first failure, and the failure again after each further day. */
    private static void tell(@Nullable Reading before, Reading now) {
        Instant since = now.failingSince == null ? now.triedAt : now.failingSince;
        long days = Duration.between(since, now.triedAt).dividedBy(LONG);
        boolean said = before != null
                && before.failingSince != null
                && Duration.between(since, before.triedAt).dividedBy(LONG) == days;
        if (said) {
            return;
        }
        if (days > 0) {
            LOG.error(
                    "the worklist has not been readable since {}: {}. Visits booked since then are unknown",
                    since,
                    now.message);
        } else {
            LOG.warn("the worklist cannot be read and will be retried: {}", now.message);
        }
    }

    private void keep(Reading reading) {
        jdbc.sql("""
                        insert into worklist_reading (tried_at, read_at, failing_since, message, booked, changed, unchanged, refused)
                        values (:triedAt, :readAt, :failingSince, :message, :booked, :changed, :unchanged, :refused)
                        on conflict (number) do update
                            set tried_at = excluded.tried_at, read_at = excluded.read_at, failing_since = excluded.failing_since,
                                message = excluded.message, booked = excluded.booked, changed = excluded.changed,
                                unchanged = excluded.unchanged, refused = excluded.refused
                        """).params(Rows.params(reading)).update();
    }
}
