package dozo.ledger;

import dozo.file.Digest;
import dozo.ledger.Breach.Kind;
import dozo.ledger.RowHash.Row;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** Checks that the database's protections of ledger rows are in place, enabled and unchanged. */
@Component
public class Guards {

    /**
     * Bits of {@code pg_trigger.tgtype}: before insert, for each row; before update, delete and truncate, for each
     * statement.
     */
    private static final int ON_INSERT = 0b0000111;

    private static final int ON_CHANGE = 0b0111010;

    /**
     * The triggers that the migrations create. The digest is that of the function's source as stored in the database.
     */
    private static final List<Trigger> OURS = List.of(
            new Trigger(
                    "ledger_append",
                    ON_INSERT,
                    "ledger_append",
                    "56702df04b6ef75b9545f5dc0302b3cadcbeaa2c77bac80d64b26e7e8045ed67",
                    true,
                    true),
            new Trigger(
                    "ledger_is_append_only",
                    ON_CHANGE,
                    "refuse_change",
                    "7f2c9e84b6919db65210fee0857a08eb2da72dffb1411077f3d77ac7916da5e4",
                    true,
                    true));

    private static final Row SAMPLE = new Row(
            7L,
            Instant.parse("2026-02-28T23:59:59.000001Z"),
            "鈴木 \u001f",
            "test.done",
            "p/E1#2",
            "{\"k\": \"v\"}",
            null);

    private final JdbcClient jdbc;

    /**
     * A trigger of the ledger table.
     *
     * @param source SHA-256 of the function's source
     * @param always without a condition, and for every column
     */
    private record Trigger(String name, int type, String function, String source, boolean always, boolean enabled) {}

    public Guards(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    public List<Breach> breaches() {
        List<Breach> found = new ArrayList<>();
        Map<String, Trigger> there = new HashMap<>();
        triggers().forEach(trigger -> there.put(trigger.name, trigger));
        for (Trigger ours : OURS) {
            String wrong = wrong(ours, there.remove(ours.name));
            if (wrong != null) {
                found.add(new Breach(Kind.UNGUARDED, null, "the trigger %s %s".formatted(ours.name, wrong)));
            }
        }
        there.keySet().stream()
                .sorted()
                .forEach(name -> found.add(
                        new Breach(Kind.UNGUARDED, null, "the ledger has a trigger that is not Dozo's: " + name)));
        rules().forEach(rule ->
                found.add(new Breach(Kind.UNGUARDED, null, "the ledger has a rule that is not Dozo's: " + rule)));
        if (!functionIsOurs()) {
            found.add(new Breach(Kind.UNGUARDED, null, "the function ledger_hash differs from Dozo's"));
        }
        return found;
    }

    private static @Nullable String wrong(Trigger ours, @Nullable Trigger there) {
        if (there == null) {
            return "is missing: the database does not prevent changes of ledger rows";
        }
        if (!there.enabled) {
            return "is disabled: the database does not prevent changes of ledger rows";
        }
        return there.equals(ours) ? null : "or its function differs from Dozo's";
    }

    private List<Trigger> triggers() {
        return jdbc.sql("""
                        select t.tgname as name, t.tgtype as type, p.proname as function, encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex') as source,
                               t.tgqual is null and t.tgattr::text = '' as always, t.tgenabled in ('O', 'A') as enabled
                        from pg_trigger t join pg_proc p on p.oid = t.tgfoid
                        where t.tgrelid = 'ledger'::regclass and not t.tgisinternal
                        """).query(Rows.of(Trigger.class)).list();
    }

    private List<String> rules() {
        return jdbc.sql("select rulename from pg_rewrite where ev_class = 'ledger'::regclass order by rulename")
                .query((row, n) -> row.getString(1))
                .list();
    }

    /** Checks the function by its result for one row. A changed function appends rows that do not fit the chain. */
    private boolean functionIsOurs() {
        byte[] previous = Digest.OF_NOTHING.bytes();
        Digest right = RowHash.of(previous, 7, SAMPLE).orElseThrow();
        try {
            return jdbc.sql("select ledger_hash(:previous, :seq, :at, :actor, :action, :subject, :detail::jsonb)")
                    .param("previous", previous)
                    .param("seq", SAMPLE.seq())
                    .param("at", OffsetDateTime.ofInstant(SAMPLE.at(), ZoneOffset.UTC))
                    .param("actor", SAMPLE.actor())
                    .param("action", SAMPLE.action())
                    .param("subject", SAMPLE.subject())
                    .param("detail", SAMPLE.detail())
                    .query((row, n) -> Arrays.equals(row.getBytes(1), right.bytes()))
                    .single();
        } catch (DataAccessException gone) {
            return false;
        }
    }
}
