package dozo.run;

import dozo.ledger.Rows;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * How fast each run went, interval by interval. The number of intervals of a run is bounded: from time to time two
 * neighbours become one.
 */
@Component
public class Paces {

    public static final int INTERVALS_MAX = 120;

    /** A shorter interval, such as the last one of a run, says little about the speed. */
    private static final double SECONDS_MIN = 0.5;

    private final JdbcClient jdbc;

    /**
     * What a run moved in one interval, of all projects.
     *
     * @param seconds the time in which the run was measured. If two intervals became one, the pause between them does
     * not count
     * @param bytes what the engine sent, verified or not; for a scrub, what was read
     * @param entries files, folders and links that were proven; for a scrub, those that were read
     */
    public record Pace(Instant beganAt, double seconds, long bytes, long entries) {

        public Instant endedAt() {
            return beganAt.plusNanos((long) (seconds * Duration.ofSeconds(1).toNanos()));
        }

        public double bytesPerSecond() {
            return bytes / seconds;
        }

        public double entriesPerSecond() {
            return entries / seconds;
        }
    }

    public Paces(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the intervals of a run, the oldest first. */
    public List<Pace> of(long runId) {
        return jdbc.sql("select began_at, seconds, bytes, entries from run_pace where run_id = :run order by began_at")
                .param("run", runId)
                .query(Rows.of(Pace.class))
                .list();
    }

    /**
     * Adds an interval; a very short one becomes part of the one before. If there are too many, each two become one.
     * Only one process may measure a run.
     */
    @Transactional
    public void add(long runId, Pace pace) {
        if (pace.seconds() >= SECONDS_MIN || !addToLast(runId, pace)) {
            insert(runId, pace);
        }
        int count = jdbc.sql("select count(*) from run_pace where run_id = :run")
                .param("run", runId)
                .query(Integer.class)
                .single();
        if (count > INTERVALS_MAX) {
            thin(runId);
        }
    }

    private boolean addToLast(long runId, Pace pace) {
        return jdbc.sql("""
                        update run_pace
                            set seconds = seconds + :seconds, bytes = bytes + :bytes, entries = entries + :entries
                        where run_id = :run and began_at = (select max(began_at) from run_pace where run_id = :run)
                        """)
                        .param("run", runId)
                        .param("seconds", pace.seconds())
                        .param("bytes", pace.bytes())
                        .param("entries", pace.entries())
                        .update()
                == 1;
    }

    private void insert(long runId, Pace pace) {
        // NB: if the clock went back, an interval may have begun at this time already. It is left as it is.
        jdbc.sql("""
                        insert into run_pace (run_id, began_at, seconds, bytes, entries)
                        values (:run, :began, :seconds, :bytes, :entries)
                        on conflict do nothing
                        """)
                .param("run", runId)
                .param("began", Timestamp.from(pace.beganAt()))
                .param("seconds", pace.seconds())
                .param("bytes", pace.bytes())
                .param("entries", pace.entries())
                .update();
    }

    private void thin(long runId) {
        List<Timestamp> joined = jdbc.sql("""
                        with numbered as (
                            select began_at, row_number() over own as n, lead(began_at) over own as next, lead(seconds) over own as seconds,
                                   lead(bytes) over own as bytes, lead(entries) over own as entries
                            from run_pace where run_id = :run
                            window own as (order by began_at)
                        )
                        update run_pace p
                            set seconds = p.seconds + n.seconds, bytes = p.bytes + n.bytes, entries = p.entries + n.entries
                        from numbered n
                        where p.run_id = :run and p.began_at = n.began_at and n.n % 2 = 1 and n.next is not null
                        returning n.next
                        """)
                .param("run", runId)
                .query((row, n) -> row.getTimestamp(1))
                .list();
        jdbc.sql("delete from run_pace where run_id = :run and began_at in (:joined)")
                .param("run", runId)
                .param("joined", joined)
                .update();
    }
}
