package dozo.registry;

import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Retention holds. While one stands, nothing may forget, delete or erase anything about its experiments; whoever wants to,
 * asks {@link #on} first, in the same transaction (ADR 0095).
 */
@Component
public class Holds {

    private static final String STANDS = "(h.ended_at is null and (h.until is null or h.until > :now))";

    private static final String SELECT = """
            select h.hold_id as id, p.code as project, e.code as experiment, h.reason, h.placed_by, h.placed_at, h.until,
                   h.ended_at, h.ended_by, h.end_reason, %s as stands
            from hold h join project p using (project_id) left join experiment e on e.experiment_id = h.experiment_id
            """.formatted(STANDS);

    private static final RowMapper<Hold> HOLD = Rows.of(Hold.class);

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /**
     * A hold.
     *
     * @param experiment the experiment's code; missing: all experiments of the project, also later ones
     * @param until from then on it does not stand any more; missing: until somebody ends it
     * @param endedAt when somebody ended it, with {@code endedBy} and {@code endReason}; missing: nobody has
     * @param stands whether it stands now
     */
    public record Hold(
            long id,
            String project,
            @Nullable String experiment,
            String reason,
            String placedBy,
            Instant placedAt,
            @Nullable Instant until,
            @Nullable Instant endedAt,
            @Nullable String endedBy,
            @Nullable String endReason,
            boolean stands) {

        /** Returns {@code PROJECT} or {@code PROJECT/EXPERIMENT}. */
        public String subject() {
            return experiment == null ? project : project + "/" + experiment;
        }
    }

    public Holds(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Returns the first hold that stands on an experiment, its own or its project's; empty: it is not held. */
    public Optional<Hold> on(int experimentId) {
        return jdbc.sql(SELECT + "where h.hold_id = standing_hold(:experiment, :now)")
                .param("now", now())
                .param("experiment", experimentId)
                .query(HOLD)
                .optional();
    }

    /**
     * Refuses if an experiment is held.
     *
     * @throws Refusal that names the hold
     */
    public void refuseIfHeld(int experimentId) {
        on(experimentId).ifPresent(hold -> {
            throw held(hold);
        });
    }

    /** Refuses if a site has copies of a held experiment: they would no longer count. */
    void refuseIfHeldAt(int siteId) {
        jdbc.sql(SELECT + "where " + STANDS + """
                          and exists (select from stored s join experiment x on x.experiment_id = s.experiment_id
                                      where s.site_id = :site and x.project_id = h.project_id
                                        and (h.experiment_id is null or h.experiment_id = x.experiment_id))
                        order by h.hold_id limit 1
                        """)
                .param("now", now())
                .param("site", siteId)
                .query(HOLD)
                .optional()
                .ifPresent(hold -> {
                    throw held(hold);
                });
    }

    private static Refusal held(Hold hold) {
        return Refusal.conflict(
                "hold",
                "hold %d stands on %s (by %s: %s); nothing of it may be removed until the hold is ended",
                hold.id,
                hold.subject(),
                hold.placedBy,
                hold.reason);
    }

    /**
     * Places a hold.
     *
     * @param experimentId null: on all experiments of the project
     * @param until null: until somebody ends it
     */
    @Transactional
    public Hold place(
            String project, @Nullable Integer experimentId, String reason, @Nullable Instant until, String actor) {
        Reason why = Reason.of(reason);
        Instant now = clock.instant();
        if (until != null && !until.isAfter(now)) {
            throw new Refusal("until", "expected a time in the future");
        }
        long id = jdbc.sql("""
                        insert into hold (project_id, experiment_id, reason, placed_by, placed_at, until)
                        select project_id, :experiment::integer, :reason, :actor, :now, :until::timestamptz
                        from project where code = :project
                        returning hold_id
                        """)
                .param("project", project)
                .param("experiment", experimentId)
                .param("reason", why.text())
                .param("actor", actor)
                .param("now", Timestamp.from(now))
                .param("until", until == null ? null : Timestamp.from(until))
                .query(Long.class)
                .optional()
                .orElseThrow(() -> new Refusal("project", "project \"%s\" does not exist", project));
        Hold placed = find(Sight.EVERYTHING, id).orElseThrow();
        Map<String, Object> detail = detail(placed, why);
        detail.put("until", until == null ? "" : until);
        ledger.append(actor, "hold.placed", placed.subject(), detail);
        return placed;
    }

    /**
     * Ends a hold that nobody has ended, also if its time is over.
     *
     * @return the ended hold; empty: it does not exist
     * @throws Refusal if it was ended before
     */
    @Transactional
    public Optional<Hold> end(long id, String reason, String actor) {
        Reason why = Reason.of(reason);
        Optional<Hold> found = find(Sight.EVERYTHING, id);
        if (found.isEmpty()) {
            return found;
        }
        int ended = jdbc.sql("""
                        update hold set ended_at = :now, ended_by = :actor, end_reason = :reason
                        where hold_id = :id and ended_at is null
                        """)
                .param("id", id)
                .param("now", now())
                .param("actor", actor)
                .param("reason", why.text())
                .update();
        if (ended == 0) {
            throw Refusal.conflict("hold", "hold %d was ended before", id);
        }
        ledger.append(actor, "hold.ended", found.get().subject(), detail(found.get(), why));
        return find(Sight.EVERYTHING, id);
    }

    /** Returns a visible hold. */
    public Optional<Hold> find(Sight sight, long id) {
        return jdbc.sql(SELECT + "where h.hold_id = :id and in_sight(:seen, p.code)")
                .param("now", now())
                .param("id", id)
                .param("seen", sight.seen())
                .query(HOLD)
                .optional();
    }

    /**
     * Returns at most {@code limit} visible holds before one, the latest first.
     *
     * @param all also those that do not stand any more
     */
    public List<Hold> page(Sight sight, boolean all, long before, int limit) {
        return jdbc.sql(SELECT + """
                        where h.hold_id < :before and in_sight(:seen, p.code) and (:all or %s)
                        order by h.hold_id desc limit :limit
                        """.formatted(STANDS))
                .param("now", now())
                .param("before", before)
                .param("seen", sight.seen())
                .param("all", all)
                .param("limit", limit)
                .query(HOLD)
                .list();
    }

    /** Returns at most {@code limit} holds that stand on a project or one of its experiments, the latest first. */
    public List<Hold> standing(String project, int limit) {
        return jdbc.sql(SELECT + "where p.code = :project and " + STANDS + " order by h.hold_id desc limit :limit")
                .param("now", now())
                .param("project", project)
                .param("limit", limit)
                .query(HOLD)
                .list();
    }

    private static Map<String, Object> detail(Hold hold, Reason reason) {
        Map<String, Object> detail = new HashMap<>();
        detail.put("hold", hold.id);
        detail.put("reason_sha256", reason.sha256());
        return detail;
    }

    private Timestamp now() {
        return Timestamp.from(clock.instant());
    }
}
