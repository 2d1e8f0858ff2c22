package dozo.ledger;

import java.sql.Timestamp;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The append-only, hash-chained record of what happened. Code that changes something appends here in the same
 * transaction. The database chains the rows and refuses to change them.
 */
@Component
public class Ledger {

    /** The actor when no user requested the action: the schedule, a recovery. */
    public static final String SYSTEM = "dozo";

    private static final String ANCHORED = "ledger.anchored";

    private static final String SELECTED = """
            select seq, at, actor, action, subject, detail::text, encode(hash, 'hex') as hash from ledger
            where (:subject::text is null or subject = :subject
                   or subject ~ '#[0-9]+$' and regexp_replace(subject, '#[0-9]+$', '') = :subject)
              and (:action::text is null or action = :action)
              and (:actor::text is null or actor = :actor)
              and (:from::timestamptz is null or at >= :from)
              and (:until::timestamptz is null or at < :until)
            """;

    private static final RowMapper<Anchor> ANCHOR = Rows.of(Anchor.class);

    private final JdbcClient jdbc;
    private final InstantSource clock;

    /** One row. {@code detail} is JSON text, {@code hash} 64 hexadecimal digits. */
    public record LedgerEntry(
            long seq, Instant at, String actor, String action, String subject, String detail, String hash) {}

    /** One of several subjects of the same action, with its {@code values} in the order of the common keys. */
    public record Subject(String subject, List<String> values) {}

    /**
     * A record that an anchor was written to a site.
     *
     * @param seq the row that records it
     * @param anchor the number of the anchored row, as stored
     */
    public record Anchored(long seq, @Nullable String anchor) {}

    /**
     * Selects rows; null: any.
     *
     * @param subject what the action was applied to; for an experiment also rows about its manifests ({@code P1/E1#3})
     * @param actor who did it
     * @param from appended then or later
     * @param until appended before
     */
    public record Filter(
            @Nullable String subject,
            @Nullable String action,
            @Nullable String actor,
            @Nullable Instant from,
            @Nullable Instant until) {

        public static final Filter ALL = new Filter(null, null, null, null, null);
    }

    public Ledger(JdbcClient jdbc, InstantSource clock) {
        this.jdbc = jdbc;
        this.clock = clock;
    }

    /**
     * Appends an action of {@code actor}.
     *
     * @param action object and verb, as {@code "experiment.registered"}
     * @param detail details, in any order; never a person's name
     */
    public void append(String actor, String action, String subject, Map<String, ?> detail) {
        jdbc.sql("""
                        insert into ledger (at, actor, action, subject, detail)
                        values (:at, :actor, :action, :subject, jsonb_object(:keys::text[], :values::text[]))
                        """)
                .params(Map.of("at", Timestamp.from(clock.instant()), "actor", actor, "action", action))
                .params(Map.of("subject", subject, "keys", detail.keySet().toArray(String[]::new)))
                .param("values", detail.values().stream().map(String::valueOf).toArray(String[]::new))
                .update();
    }

    /**
     * Appends the same action for many subjects, as {@link #appendAll}, just before the current transaction commits. An append locks the ledger until the end of its transaction, so
     * this one locks it for a shorter time. Until the commit, the lock protects nothing and no reader sees the row. A rollback to a
     * savepoint does not remove it.
     *
     * @throws IllegalStateException if there is no transaction
     */
    public void appendAtCommit(String actor, String action, List<String> keys, List<Subject> told) {
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                appendAll(actor, action, keys, told);
            }
        });
    }

    /**
     * Appends a change by {@code actor}, with what was there before and what is there after.
     *
     * @param before empty: nothing was there
     * @param after empty: nothing is there any more
     */
    public void change(String actor, String action, String subject, String before, String after) {
        append(actor, action, subject, Map.of("before", before, "after", after));
    }

    /**
     * Appends the same action of {@code actor} for many subjects, one row each, in their order.
     *
     * @param keys the keys of the details; the values of every {@link Subject} are in this order
     */
    public void appendAll(String actor, String action, List<String> keys, List<Subject> told) {
        jdbc.sql("""
                        insert into ledger (at, actor, action, subject, detail)
                        select :at, :actor, :action, s.subject, jsonb_object(:keys::text[], v.list)
                        from unnest(:subjects::text[]) with ordinality as s (subject, n)
                        join (select (n - 1) / :width + 1 as n, array_agg(value order by n) as list
                              from unnest(:values::text[]) with ordinality as t (value, n)
                              group by 1) as v using (n)
                        order by s.n
                        """)
                .params(Map.of("at", Timestamp.from(clock.instant()), "actor", actor, "action", action))
                .params(Map.of("keys", keys.toArray(String[]::new), "width", keys.size()))
                .param("subjects", told.stream().map(Subject::subject).toArray(String[]::new))
                .param(
                        "values",
                        told.stream().flatMap(each -> each.values().stream()).toArray(String[]::new))
                .update();
    }

    /** Returns the current time of the clock that rows are dated with. */
    public Instant now() {
        return clock.instant();
    }

    /** Returns at most {@code limit} rows after {@code seq}, oldest first. */
    public List<LedgerEntry> after(long seq, int limit) {
        return page(Filter.ALL, seq, limit);
    }

    /** Returns at most {@code limit} selected rows after {@code seq}, oldest first. */
    public List<LedgerEntry> page(Filter wanted, long seq, int limit) {
        return rows(SELECTED + " and seq > :seq order by seq limit :limit", wanted, seq, limit);
    }

    /** Returns at most {@code limit} selected rows before {@code seq}, newest first. */
    public List<LedgerEntry> newest(Filter wanted, long seq, int limit) {
        return rows(SELECTED + " and seq < :seq order by seq desc limit :limit", wanted, seq, limit);
    }

    /** Returns the actions that have ever happened. Looks up one after the other, because an action has many rows. */
    public List<String> actions() {
        return jdbc.sql("""
                        with recursive happened (action) as (
                            select min(action) from ledger
                            union all
                            select (select min(l.action) from ledger l where l.action > h.action) from happened h
                            where h.action is not null
                        )
                        select action from happened where action is not null order by action
                        """).query((row, n) -> row.getString(1)).list();
    }

    private List<LedgerEntry> rows(String statement, Filter wanted, long seq, int limit) {
        return jdbc.sql(statement)
                .params(Rows.params(wanted))
                .param("seq", seq)
                .param("limit", limit)
                .query(Rows.of(LedgerEntry.class))
                .list();
    }

    /** Returns the last committed row; empty: there is none, or it cannot have been appended. */
    public Optional<Anchor> head() {
        return jdbc.sql("""
                        select seq, hash, at from (select * from ledger order by seq desc limit 1) as last
                        where octet_length(hash) = 32
                        """).query(ANCHOR).optional();
    }

    /** Returns the number of the last row; 0: there is none. */
    public long last() {
        return jdbc.sql("select coalesce(max(seq), 0) from ledger")
                .query((row, n) -> row.getLong(1))
                .single();
    }

    /** Returns those of the rows with these numbers that exist, by number. */
    public Map<Long, Anchor> rows(Collection<Long> seqs) {
        return jdbc
                .sql("select seq, hash, at from ledger where seq = any(:seqs) and octet_length(hash) = 32")
                .param("seqs", seqs.toArray(Long[]::new))
                .query(ANCHOR)
                .list()
                .stream()
                .collect(Collectors.toMap(Anchor::seq, row -> row));
    }

    /** Records that an anchor was written to a site. */
    public void anchored(Anchor anchor, String site) {
        append(SYSTEM, ANCHORED, site, Map.of("seq", anchor.seq(), "hash", anchor.hash()));
    }

    /** Returns at most {@code limit} records, after a row, that an anchor was written to a site. */
    public List<Anchored> anchored(String site, long after, int limit) {
        return jdbc.sql("""
                        select seq, detail ->> 'seq' as anchor from ledger
                        where action = :action and subject = :site and seq > :after
                        order by seq
                        limit :limit
                        """)
                .params(Map.of("action", ANCHORED, "site", site, "after", after, "limit", limit))
                .query(Rows.of(Anchored.class))
                .list();
    }

    /** Returns all anchors that were written to a site: one for each run. */
    public List<Anchor> anchors(String site) {
        return jdbc.sql("""
                        select seq, hash, at from ledger
                        where octet_length(hash) = 32 and seq in (
                            select case when detail ->> 'seq' ~ '^[1-9][0-9]{0,17}$' then (detail ->> 'seq')::bigint end
                            from ledger where action = :action and subject = :site)
                        order by seq
                        """)
                .params(Map.of("action", ANCHORED, "site", site))
                .query(ANCHOR)
                .list();
    }

    /** Keeps the result of a verification. */
    public void verified(Verification result) {
        jdbc.sql("""
                        insert into ledger_verification (began_at, verdict, rows_checked, breaches, unproven, unproven_sites)
                        values (:beganAt, :verdict, :rowsChecked, :breaches, :unproven, :unprovenSites::text[])
                        """).params(Rows.params(result)).update();
    }

    /** Returns whether an anchor was written since a moment: a verification then proves more than one before. */
    public boolean isAnchoredSince(Instant moment) {
        return jdbc.sql("select exists (select from ledger where at > :moment and action = :action)")
                .param("moment", Timestamp.from(moment))
                .param("action", ANCHORED)
                .query(Boolean.class)
                .single();
    }

    public Optional<Verification> lastVerification() {
        return jdbc.sql("""
                        select began_at, verdict, rows_checked, breaches, unproven, unproven_sites from ledger_verification
                        order by verification_id desc limit 1
                        """).query(Rows.of(Verification.class)).optional();
    }
}
