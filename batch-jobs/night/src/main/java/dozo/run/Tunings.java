package dozo.run;

import dozo.ledger.Rows;
import dozo.remote.TuningDecision;
import dozo.remote.TuningStart;
import java.sql.Timestamp;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** The decisions of each run about lanes and channels, and what the next run to a site begins with (ADR 0077). */
@Component
public class Tunings {

    /** Of a run with more decisions, the latest are kept. */
    static final int DECISIONS_MAX = 500;

    /** The latest runs and measurements whose highest rate counts: one night may have had little to send. */
    private static final int LATEST = 5;

    private final JdbcClient jdbc;
    private final SiteTunings measured;

    Tunings(JdbcClient jdbc, SiteTunings measured) {
        this.jdbc = jdbc;
        this.measured = measured;
    }

    /** Returns the decisions of a run, the oldest first. */
    public List<TuningDecision> of(long runId) {
        return jdbc.sql("""
                        select decided_at, lanes, channels, bytes_per_second, reason
                        from run_tuning where run_id = :run order by decided_at
                        """)
                .param("run", runId)
                .query(Rows.of(TuningDecision.class))
                .list();
    }

    /** Adds decisions. It may be repeated with the same ones. */
    @Transactional
    void add(long runId, List<TuningDecision> decisions) {
        for (TuningDecision decision : decisions) {
            jdbc.sql("""
                            insert into run_tuning (run_id, decided_at, lanes, channels, bytes_per_second, reason)
                            values (:run, :at, :lanes, :channels, :rate, :reason)
                            on conflict do nothing
                            """)
                    .param("run", runId)
                    .param("at", Timestamp.from(decision.decidedAt()))
                    .param("lanes", decision.lanes())
                    .param("channels", decision.channels())
                    .param("rate", decision.bytesPerSecond())
                    .param("reason", decision.reason().name())
                    .update();
        }
        jdbc.sql("""
                        delete from run_tuning
                        where run_id = :run and decided_at <= (select decided_at from run_tuning where run_id = :run
                                                               order by decided_at desc offset :most limit 1)
                        """).param("run", runId).param("most", DECISIONS_MAX).update();
    }

    /**
     * Returns what is known about the link to a site: what was measured with made-up data, or the highest rate of the
     * latest runs that measured one.
     */
    TuningStart start(int siteId) {
        return measured.choice(siteId)
                .<TuningStart>map(TuningStart.Chosen::new)
                .or(() -> decided(siteId).or(() -> learnt(siteId)).map(TuningStart.Carried::new))
                .orElseGet(TuningStart.Unknown::new);
    }

    private Optional<Double> decided(int siteId) {
        // NB: a first choice repeats an earlier rate, which would otherwise stay for ever.
        return highest("""
                select max(t.bytes_per_second) as rate
                from run r join run_tuning t using (run_id)
                where r.site_id = :site and t.bytes_per_second > 0 and t.reason not in ('ASSUMED_RATE', 'EARLIER_RATE', 'TUNED')
                group by run_id order by run_id desc limit :latest
                """, siteId);
    }

    private Optional<Double> learnt(int siteId) {
        return highest("""
                select bytes / seconds as rate from cost_model
                where site_id = :site and bytes > 0 and seconds > 0 order by cost_model_id desc limit :latest
                """, siteId);
    }

    private Optional<Double> highest(String rates, int siteId) {
        return jdbc
                .sql(rates)
                .param("site", siteId)
                .param("latest", LATEST)
                .query((row, n) -> row.getDouble("rate"))
                .list()
                .stream()
                .max(Double::compare);
    }
}
