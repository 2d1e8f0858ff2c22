package dozo.verify;

import dozo.ledger.Rows;
import dozo.verify.LedgerVerification.AtSite;
import dozo.verify.LedgerVerification.Verdict;
import dozo.verify.LedgerVerification.Verified;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Verifies the ledger once a day, and keeps the result: a broken ledger must not wait until somebody asks. */
@Component
public class LedgerChecks {

    private static final Duration EVERY = Duration.ofDays(1);

    private static final RowMapper<LedgerCheck> CHECK = Rows.of(LedgerCheck.class);

    private final JdbcClient jdbc;
    private final LedgerVerification verification;
    private final InstantSource clock;

    /**
     * The last verification.
     *
     * @param rows the number of rows at that time
     * @param breaches the number of all breaches, in the rows and at the sites
     */
    public record LedgerCheck(Instant checkedAt, Verdict verdict, long rows, long breaches) {}

    public LedgerChecks(JdbcClient jdbc, LedgerVerification verification, InstantSource clock) {
        this.jdbc = jdbc;
        this.verification = verification;
        this.clock = clock;
    }

    /** Returns whether the last verification is a day old, or there was none. */
    public boolean isDue() {
        return last().map(check -> check.checkedAt().plus(EVERY).isBefore(clock.instant()))
                .orElse(true);
    }

    /** Returns the last verification. */
    public Optional<LedgerCheck> last() {
        return jdbc.sql("select checked_at, verdict, rows, breaches from ledger_check")
                .query(CHECK)
                .optional();
    }

    /** Verifies the whole ledger, and keeps the result. */
    public Verified run() throws InterruptedException {
        Verified verified = verification.verify();
        long breaches = verified.breachesCount()
                + verified.sites().stream().mapToLong(AtSite::breachesCount).sum();
        jdbc.sql("""
                        insert into ledger_check (checked_at, verdict, rows, breaches)
                        values (:now, :verdict, :rows, :breaches)
                        on conflict (number) do update
                            set checked_at = excluded.checked_at, verdict = excluded.verdict, rows = excluded.rows,
                                breaches = excluded.breaches
                        """)
                .param("now", Timestamp.from(clock.instant()))
                .param("verdict", verified.verdict().name())
                .param("rows", verified.rows())
                .param("breaches", breaches)
                .update();
        return verified;
    }
}
