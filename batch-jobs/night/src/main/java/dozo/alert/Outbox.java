package dozo.alert;

import dozo.alert.Condition.Kind;
import dozo.alert.Recipients.Channel;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * What recipients are still to be told. A message is claimed before it is sent; if its sender dies, it is sent again
 * after the claim. A recipient sees such a repetition by the message's id.
 */
@Component
public class Outbox {

    /** Longer than all time limits of a delivery together. */
    private static final Duration CLAIM = Duration.ofMinutes(3);

    private static final Duration FIRST_WAIT = Duration.ofSeconds(15);
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(15);
    private static final int DOUBLINGS_MAX = 10;

    /** A server that is away for longer gets no message that is older. */
    private static final Duration GIVEN_UP_AFTER = Duration.ofDays(7);

    private static final int ERROR_LENGTH_MAX = 500;

    private final JdbcClient jdbc;
    private final Recipients recipients;
    private final Ledger ledger;
    private final InstantSource clock;

    /** Why somebody is told. */
    public enum Occasion {
        RAISED,
        REMINDER,
        CLEARED,
        /** A person wants to see whether it arrives. */
        TEST,
        /** A night is over. */
        REPORT
    }

    /**
     * A message to send now.
     *
     * @param projects the codes of the projects that the recipient is told about; empty: all, and sites and the service
     * @param kind of the condition; null: it is about none
     * @param raisedAt when the condition began; null: it is about none
     * @param night the day of the morning of a report; null: it is none
     */
    public record Message(
            long id,
            String recipient,
            Channel channel,
            String address,
            String language,
            List<String> projects,
            Occasion occasion,
            @Nullable Kind kind,
            @Nullable String site,
            @Nullable String project,
            long count,
            String subject,
            @Nullable Instant raisedAt,
            @Nullable LocalDate night,
            int attempts,
            Instant createdAt) {

        /** Returns the projects that the recipient is told about. */
        public Sight sight() {
            return projects.isEmpty() ? Sight.EVERYTHING : Sight.of(projects);
        }
    }

    /**
     * What waits for a recipient.
     *
     * @param error why the last attempt failed; null: there was none
     */
    public record Waiting(
            String recipient,
            long messages,
            Instant oldest,
            @Nullable String error) {}

    public Outbox(JdbcClient jdbc, Recipients recipients, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.recipients = recipients;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Writes a message that tells only that messages arrive. Returns its id.
     *
     * @throws Refusal if there is no such recipient
     */
    @Transactional
    public long test(String recipient, String actor) {
        int to = recipients
                .keptOf(recipient)
                .orElseThrow(() -> new Refusal("name", "there is no recipient %s", recipient))
                .id();
        ledger.append(actor, "recipient.tested", recipient, Map.of());
        return jdbc.sql("""
                        insert into alert_message (recipient_id, kind, turn, count, subject, created_at, due_at)
                        values (:to, 'TEST', 0, 0, '', :now, :now)
                        returning message_id
                        """)
                .param("to", to)
                .param("now", Timestamp.from(clock.instant()))
                .query(Long.class)
                .single();
    }

    /**
     * Claims the first message of a channel that is due. Of one alert, a recipient is told the next only after the one
     * before.
     */
    @Transactional
    public Optional<Message> claim(Channel channel) {
        return jdbc.sql("""
                        with due as (
                            select m.message_id from alert_message m join recipient r using (recipient_id)
                            where r.channel = :channel and m.sent_at is null and m.given_up_at is null and m.due_at <= :now
                              and (m.claimed_until is null or m.claimed_until < now())
                              and not exists (select from alert_message b
                                              where b.recipient_id = m.recipient_id and b.alert_id = m.alert_id
                                                and b.message_id < m.message_id
                                                and b.sent_at is null and b.given_up_at is null)
                            order by m.due_at, m.message_id limit 1 for update of m skip locked),
                        claimed as (
                            update alert_message
                            set claimed_until = now() + make_interval(secs => :claim), attempts = attempts + 1
                            where message_id in (select message_id from due)
                            returning *)
                        select m.message_id as id, r.name as recipient, upper(r.channel) as channel, r.address, r.language,
                               array(select w.code from recipient_project t join project w using (project_id)
                                     where t.recipient_id = m.recipient_id order by w.code) as projects,
                               m.kind as occasion, a.kind, s.name as site, p.code as project, m.count, m.subject, a.raised_at,
                               m.night, m.attempts, m.created_at
                        from claimed m
                        join recipient r using (recipient_id)
                        left join alert a using (alert_id)
                        left join site s using (site_id)
                        left join project p using (project_id)
                        """)
                .param("channel", channel.word())
                .param("now", Timestamp.from(clock.instant()))
                .param("claim", CLAIM.toSeconds())
                .query(Rows.of(Message.class))
                .optional();
    }

    /** Records that a server has accepted a message. */
    public void sent(Message message) {
        jdbc.sql("update alert_message set sent_at = :now, error = null where message_id = :id and sent_at is null")
                .param("now", Timestamp.from(clock.instant()))
                .param("id", message.id)
                .update();
    }

    /**
     * Records that an attempt failed. It is repeated later, unless that is useless or has lasted a week.
     *
     * @param error what the server said; contains nothing secret
     * @param useless whether the server refused it for good
     */
    public void failed(Message message, String error, boolean useless) {
        Instant now = clock.instant();
        boolean over = useless || message.createdAt.isBefore(now.minus(GIVEN_UP_AFTER));
        Duration doubled = FIRST_WAIT.multipliedBy(1L << Math.min(message.attempts, DOUBLINGS_MAX));
        Instant next = now.plus(doubled.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : doubled);
        jdbc.sql("""
                        update alert_message
                        set error = :error, claimed_until = null, due_at = :next,
                            given_up_at = case when :over then :now::timestamptz end
                        where message_id = :id and sent_at is null
                        """)
                .param("error", error.length() > ERROR_LENGTH_MAX ? error.substring(0, ERROR_LENGTH_MAX) : error)
                .param("next", Timestamp.from(next))
                .param("over", over)
                .param("now", Timestamp.from(now))
                .param("id", message.id)
                .update();
    }

    /** Returns what waits although it is due, or was given up within a week, by recipient. */
    public List<Waiting> waiting() {
        Instant now = clock.instant();
        return jdbc.sql("""
                        select r.name as recipient, count(*) as messages, min(m.created_at) as oldest,
                               (array_agg(m.error order by m.message_id desc) filter (where m.error is not null))[1] as error
                        from alert_message m join recipient r using (recipient_id)
                        where m.sent_at is null and m.created_at <= :now
                          and (m.given_up_at is null or m.given_up_at > :since)
                        group by r.name order by r.name
                        """)
                .param("now", Timestamp.from(now))
                .param("since", Timestamp.from(now.minus(GIVEN_UP_AFTER)))
                .query(Rows.of(Waiting.class))
                .list();
    }
}
