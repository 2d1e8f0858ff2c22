package dozo.run;

import dozo.ledger.Rows;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/** The requests and sums of scrubs. They are stored, so that a restart continues with the same request. */
@Component
public class Scrubs {

    /** The first half of the advisory lock's key; the second is the run. */
    private static final int WORKS_ON_RUN = "dozo.run".hashCode();

    /** What is kept of a scrub's time for challenges, at most. */
    private static final Duration KEPT_MAX = Duration.ofMinutes(10);

    private final JdbcClient jdbc;

    /**
     * One scrub.
     *
     * @param dueBefore copies whose last reading is older are read
     * @param bytesPerSecond the budget; 0: none
     * @param until when it begins no more; null: when everything is read
     * @param cold whether the site was to drop files from its memory before they are read
     * @param partitions the number of its commands that the site runs at the same time
     * @param copiesRead files, folders and links so far
     * @param copiesDamaged those that differ from their proven state
     * @param secondsBusy the duration of the commands at the site, summed over the partitions. Without a budget, the
     * site reads {@code bytesRead / (secondsBusy / partitions)} bytes a second
     * @param challengesLeft random ranges that were drawn and not asked
     */
    public record Scrub(
            long runId,
            Duration maxAge,
            boolean everything,
            Instant dueBefore,
            long bytesPerSecond,
            @Nullable Instant until,
            boolean cold,
            int partitions,
            long copiesRead,
            long bytesRead,
            long copiesDamaged,
            double secondsBusy,
            int challengesLeft) {

        /** Returns how long before its end it reads no more, so that every scrub asks challenges. */
        Duration keptForChallenges(Instant startedAt) {
            if (until == null || !until.isAfter(startedAt)) {
                return Duration.ZERO;
            }
            Duration tenth = Duration.between(startedAt, until).dividedBy(10);
            return tenth.compareTo(KEPT_MAX) < 0 ? tenth : KEPT_MAX;
        }

        /** Returns whether it begins no more. */
        boolean isOver(Instant now) {
            return until != null && !now.isBefore(until);
        }
    }

    /** What one transaction adds to a scrub's sums. */
    record Read(long copies, long bytes, long damaged, double seconds) {}

    Scrubs(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    void add(long runId, ScrubRequest request, Instant start, int partitions) {
        jdbc.sql("""
                        insert into scrub (run_id, max_age_seconds, everything, due_before, bytes_per_second, until, cold,
                                           partitions)
                        values (:run, :maxAge, :everything, :due, :rate, :until, :cold, :partitions)
                        """)
                .param("run", runId)
                .param("maxAge", request.maxAge().toSeconds())
                .param("everything", request.everything())
                .param("due", Timestamp.from(request.dueBefore(start)))
                .param("rate", request.bytesPerSecond())
                .param("until", request.until() == null ? null : Timestamp.from(request.until()), Types.TIMESTAMP)
                .param("cold", request.cold())
                .param("partitions", partitions)
                .update();
    }

    /**
     * Marks this transaction as working on a run until it ends. Must be called before claiming rows with a query that
     * skips locked ones: see {@link #isLeft}.
     */
    @Transactional(propagation = Propagation.MANDATORY)
    public void enter(long runId) {
        jdbc.sql("select pg_advisory_xact_lock_shared(:lock, :run)")
                .param("lock", WORKS_ON_RUN)
                .param("run", (int) runId)
                .query()
                .listOfRows();
    }

    /**
     * Returns whether no transaction works on a run. The server keeps the transactions of a killed process for a
     * moment, and those of a hanging or disconnected one for hours. Rows that they have claimed would be skipped, and
     * the run would end without them.
     */
    @Transactional
    public boolean isLeft(long runId) {
        return jdbc.sql("select pg_try_advisory_xact_lock(:lock, :run)")
                .param("lock", WORKS_ON_RUN)
                .param("run", (int) runId)
                .query(Boolean.class)
                .single();
    }

    void add(long runId, Read read) {
        jdbc.sql("""
                        update scrub
                            set copies_read = copies_read + :copies, bytes_read = bytes_read + :bytes,
                                copies_damaged = copies_damaged + :damaged, seconds_busy = seconds_busy + :seconds
                        where run_id = :run
                        """)
                .param("copies", read.copies())
                .param("bytes", read.bytes())
                .param("damaged", read.damaged())
                .param("seconds", read.seconds())
                .param("run", runId)
                .update();
    }

    /** Stores how many random ranges a scrub has drawn and not asked. */
    void leave(long runId, int challenges) {
        jdbc.sql("update scrub set challenges_left = :left where run_id = :run")
                .param("left", challenges)
                .param("run", runId)
                .update();
    }

    /** Returns the scrub of a run; empty if the run is not one. */
    public Optional<Scrub> find(long runId) {
        return jdbc.sql("select *, max_age_seconds as max_age from scrub where run_id = :run")
                .param("run", runId)
                .query(Rows.of(Scrub.class))
                .optional();
    }
}
