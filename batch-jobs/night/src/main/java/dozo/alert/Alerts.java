package dozo.alert;

import dozo.alert.Condition.Kind;
import dozo.alert.Recipients.Kept;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Remembers which conditions stand, and writes to the outbox what recipients are to be told: once when a condition
 * begins, reminders while it stands, and once when it is over.
 */
@Component
public class Alerts {

    private static final Duration SEEN_EVERY = Duration.ofMinutes(15);

    private static final String SELECT = """
            select a.alert_id as id, a.kind, s.name as site, p.code as project, a.count, a.subject, a.raised_at, a.seen_at,
                   a.cleared_at
            from alert a left join site s using (site_id) left join project p using (project_id)
            """;

    private final JdbcClient jdbc;
    private final Recipients recipients;
    private final InstantSource clock;
    private final ZoneId zone;

    /**
     * A condition that stands, or stood.
     *
     * @param count how many things it was about when it was seen last
     * @param seenAt when it was seen last, to a quarter of an hour
     * @param clearedAt null: it stands
     */
    public record Alert(
            long id,
            Kind kind,
            @Nullable String site,
            @Nullable String project,
            long count,
            String subject,
            Instant raisedAt,
            Instant seenAt,
            @Nullable Instant clearedAt) {

        private Condition.Key key() {
            return new Condition.Key(kind, site, project);
        }
    }

    private record Heard(long alertId, int recipientId) {}

    public record Changed(int raised, int cleared) {}

    public Alerts(JdbcClient jdbc, Recipients recipients, InstantSource clock, ZoneId zone) {
        this.jdbc = jdbc;
        this.recipients = recipients;
        this.clock = clock;
        this.zone = zone;
    }

    /**
     * Returns at most {@code limit} alerts that the user may see and that are before this one, the newest first.
     *
     * @param open only those that stand
     */
    public List<Alert> page(Sight sight, boolean open, long before, int limit) {
        return jdbc.sql(SELECT + """
                        where a.alert_id < :before and (not :open or a.cleared_at is null) and in_sight(:seen, p.code)
                        order by a.alert_id desc limit :limit
                        """)
                .param("before", before)
                .param("open", open)
                .param("seen", sight.seen())
                .param("limit", limit)
                .query(Rows.of(Alert.class))
                .list();
    }

    /** Returns at most {@code limit} alerts that the user may see and that stood at a moment, the oldest first. */
    public List<Alert> standing(Sight sight, Instant at, int limit) {
        return jdbc.sql(SELECT + """
                        where a.raised_at <= :at and (a.cleared_at is null or a.cleared_at > :at) and in_sight(:seen, p.code)
                        order by a.alert_id limit :limit
                        """)
                .param("at", Timestamp.from(at))
                .param("seen", sight.seen())
                .param("limit", limit)
                .query(Rows.of(Alert.class))
                .list();
    }

    /**
     * Compares what stands with what stood, and writes what recipients are to be told.
     *
     * @param now all conditions; one that is not among them is over
     */
    @Transactional
    public Changed evaluate(List<Condition> now) {
        // Two services that evaluate at a takeover do it one after the other.
        jdbc.sql("lock table alert in share row exclusive mode").update();
        Instant at = clock.instant();
        Map<Condition.Key, Alert> stood = new HashMap<>();
        page(Sight.EVERYTHING, true, Long.MAX_VALUE, Integer.MAX_VALUE).forEach(alert -> stood.put(alert.key(), alert));
        List<Kept> told = recipients.active();
        Set<Heard> heard = heard();
        int raised = 0;
        for (Condition condition : now) {
            Alert before = stood.remove(condition.key());
            long alert = before == null ? raise(condition, at) : before.id;
            raised += before == null ? 1 : 0;
            // Also those who became recipients, or of the project, since it was raised.
            told.stream()
                    .filter(each -> each.recipient().isTold(condition) && !heard.contains(new Heard(alert, each.id())))
                    .forEach(each -> tell(each, alert, "RAISED", 0, condition, at));
            if (before != null) {
                see(before, condition, at);
                remind(before, condition, told, at);
            }
        }
        stood.values().forEach(alert -> clear(alert, at));
        return new Changed(raised, stood.size());
    }

    /** Returns who has a message about which alert that stands. */
    private Set<Heard> heard() {
        return new HashSet<>(jdbc.sql("""
                        select distinct m.alert_id, m.recipient_id
                        from alert a join alert_message m using (alert_id) where a.cleared_at is null
                        """).query(Rows.of(Heard.class)).list());
    }

    private long raise(Condition condition, Instant at) {
        return jdbc.sql("""
                        insert into alert (kind, site_id, project_id, count, subject, raised_at, seen_at)
                        values (:kind, (select site_id from site where name = :site),
                                (select project_id from project where code = :project), :count, :subject, :now, :now)
                        returning alert_id
                        """)
                .param("kind", condition.kind().name())
                .param("site", condition.site(), Types.VARCHAR)
                .param("project", condition.project(), Types.VARCHAR)
                .param("count", condition.count())
                .param("subject", condition.subject())
                .param("now", Timestamp.from(at))
                .query(Long.class)
                .single();
    }

    /** Records what it is about now, and once in a while that it still stands. */
    private void see(Alert alert, Condition condition, Instant at) {
        boolean same = alert.count == condition.count() && alert.subject.equals(condition.subject());
        if (same && alert.seenAt.plus(SEEN_EVERY).isAfter(at)) {
            return;
        }
        jdbc.sql("""
                        update alert set count = :count, subject = :subject, seen_at = :now where alert_id = :alert
                        """)
                .param("count", condition.count())
                .param("subject", condition.subject())
                .param("now", Timestamp.from(at))
                .param("alert", alert.id)
                .update();
    }

    private void remind(Alert alert, Condition condition, List<Kept> told, Instant at) {
        for (Kept each : told) {
            Integer hours = each.recipient().remindHours();
            if (hours == null || !each.recipient().isTold(condition)) {
                continue;
            }
            long turn = Duration.between(alert.raisedAt, at).toHours() / hours;
            if (turn > 0) {
                tell(each, alert.id, "REMINDER", Math.toIntExact(turn), condition, at);
            }
        }
    }

    /** Writes a message, unless it exists, or an earlier one about this alert still waits. */
    private void tell(Kept to, long alert, String kind, int turn, Condition condition, Instant at) {
        Instant due = to.recipient().due(at, zone, condition.kind().isGrave());
        jdbc.sql("""
                        insert into alert_message (recipient_id, alert_id, kind, turn, count, subject, created_at, due_at)
                        select :recipient, :alert, :kind, :turn, :count, :subject, :now::timestamptz, :due::timestamptz
                        where not exists (select from alert_message
                                          where recipient_id = :recipient and alert_id = :alert
                                            and (turn >= :turn or (sent_at is null and given_up_at is null)))
                        """)
                .param("recipient", to.id())
                .param("alert", alert)
                .param("kind", kind)
                .param("turn", turn)
                .param("count", condition.count())
                .param("subject", condition.subject())
                .param("now", Timestamp.from(at))
                .param("due", Timestamp.from(due))
                .update();
    }

    /**
     * Writes the report of a night to the outbox, for every recipient that wants it. Returns how many there are.
     *
     * @param night the day of its morning
     */
    @Transactional
    public int report(LocalDate night, Instant at) {
        List<Kept> wanting = recipients.active().stream()
                .filter(each -> each.recipient().morningReport())
                .toList();
        wanting.forEach(each -> jdbc.sql("""
                        insert into alert_message (recipient_id, night, kind, turn, count, subject, created_at, due_at)
                        values (:recipient, :night, 'REPORT', 0, 0, '', :now, :due)
                        on conflict (recipient_id, night) do nothing
                        """)
                .param("recipient", each.id())
                .param("night", night)
                .param("now", Timestamp.from(at))
                .param("due", Timestamp.from(each.recipient().due(at, zone, false)))
                .update());
        return wanting.size();
    }

    /** Ends an alert. Who was told that it began, is told that it is over; who was not, is told nothing. */
    private void clear(Alert alert, Instant at) {
        jdbc.sql("update alert set cleared_at = :now where alert_id = :alert")
                .param("now", Timestamp.from(at))
                .param("alert", alert.id)
                .update();
        jdbc.sql("""
                        delete from alert_message
                        where alert_id = :alert and sent_at is null and given_up_at is null and attempts = 0
                        """).param("alert", alert.id).update();
        jdbc.sql("""
                        insert into alert_message (recipient_id, alert_id, kind, turn, count, subject, created_at, due_at)
                        select distinct m.recipient_id, m.alert_id, 'CLEARED', 0, a.count, a.subject, :now::timestamptz, :now::timestamptz
                        from alert_message m join alert a using (alert_id)
                        where m.alert_id = :alert and m.kind = 'RAISED' and m.given_up_at is null
                        """).param("alert", alert.id).param("now", Timestamp.from(at)).update();
    }
}
