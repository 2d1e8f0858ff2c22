package dozo.verify;

import dozo.ledger.Rows;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** What scanners asked Dozo to commit to, and what became of it. A request names objects of any project, so only whoever sees all may see it. */
@Component
public class CommitmentRequests {

    private final JdbcClient jdbc;

    /** How far a request is. */
    public enum CommitmentState {
        WAITING,
        REPORTED,
        /** The caller did not take the report for a week. */
        GIVEN_UP
    }

    /**
     * A request.
     *
     * @param caller its application entity title
     * @param images how many objects it is about
     * @param committed how many of them the report committed to; missing: not reported
     * @param failed how many it did not commit to
     * @param dueAt when Dozo looks at it next; missing: reported, or given up
     * @param attempts how many reports failed
     * @param message why the last report failed; empty: it did not
     */
    public record CommitmentRequest(
            long id,
            String caller,
            String transactionUid,
            CommitmentState state,
            Instant askedAt,
            int images,
            @Nullable Integer committed,
            @Nullable Integer failed,
            @Nullable Instant reportedAt,
            @Nullable Instant dueAt,
            int attempts,
            String message) {}

    public CommitmentRequests(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns at most {@code limit} requests before this one, the newest first. */
    public List<CommitmentRequest> page(long before, int limit) {
        return jdbc.sql("""
                        select c.*, commitment_id as id, cardinality(class_uids) as images, cardinality(class_uids) - failed as committed,
                               case when reported_at is not null then 'REPORTED' when due_at is null then 'GIVEN_UP' else 'WAITING' end as state
                        from commitment c
                        where commitment_id < :before order by commitment_id desc limit :limit
                        """)
                .param("before", before)
                .param("limit", limit)
                .query(Rows.of(CommitmentRequest.class))
                .list();
    }
}
