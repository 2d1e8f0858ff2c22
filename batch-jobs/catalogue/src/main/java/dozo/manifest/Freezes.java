package dozo.manifest;

import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.manifest.Tripwire.Lost;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The experiments of which too much vanished or changed at once. A frozen experiment is not sealed, planned, sent or
 * settled until an operator releases it. Then the next look at its source seals what is there.
 */
@Component
public class Freezes {

    /** Losses within this time count as one: a night, no matter how many runs it has. */
    private static final Duration SWEEP_WITHIN = Duration.ofDays(1);

    private static final RowMapper<Freeze> FREEZE = (row, n) -> new Freeze(
            row.getInt("experiment_id"),
            row.getInt("manifest_no"),
            row.getTimestamp("frozen_at").toInstant(),
            row.getLong("entries_lost"),
            row.getLong("bytes_lost"),
            row.getString("message"),
            FreezeSigns.of(row.getString("signs")),
            Rows.instant(row, "looked_at"),
            Rows.instant(row, "released_at"));

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /**
     * A freeze that has not ended.
     *
     * @param manifest the last one before it, with which the source is compared
     * @param message what the last look at the source found
     * @param signs of what happened, as of the last look; null: it froze before they were kept, or they could not be kept
     * @param lookedAt when the last look found it; null: it froze before this was kept
     * @param releasedAt when an operator released it, null while it is frozen
     */
    public record Freeze(
            int experimentId,
            int manifest,
            Instant frozenAt,
            long entriesLost,
            long bytesLost,
            String message,
            @Nullable Signs signs,
            @Nullable Instant lookedAt,
            @Nullable Instant releasedAt) {

        public boolean released() {
            return releasedAt != null;
        }

        Lost lost() {
            return new Lost(entriesLost, bytesLost);
        }
    }

    /**
     * What vanished or changed at once in all frozen experiments that a user may see.
     *
     * @param entriesLost files and links that vanished or changed, of {@code entries} of the last manifests
     * @param first {@code project/experiment} of the first one
     * @param sites the names of the sites that have a complete copy of every one, in order
     */
    public record Swept(long experiments, long entriesLost, long entries, String first, List<String> sites) {}

    public Freezes(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /** Returns whether the experiment must not be processed. */
    public boolean frozen(int experimentId) {
        return find(experimentId).filter(freeze -> !freeze.released()).isPresent();
    }

    /** Returns the experiment's freeze: frozen, or released and not read since. */
    public Optional<Freeze> find(int experimentId) {
        return find(experimentId, "");
    }

    private Optional<Freeze> find(int experimentId, String lock) {
        return jdbc.sql("select * from frozen_experiment where experiment_id = :experiment and ended_at is null "
                        + lock)
                .param("experiment", experimentId)
                .query(FREEZE)
                .optional();
    }

    /** Counts the frozen experiments that the user may see, without retired ones. */
    public long count(Sight sight) {
        return jdbc.sql("""
                        select count(*) from frozen_experiment f join living_experiment e using (experiment_id)
                        join project p using (project_id)
                        where f.ended_at is null and f.released_at is null
                          and in_sight(:seen, p.code)
                        """)
                .param("seen", sight.seen())
                .query((row, n) -> row.getLong(1))
                .single();
    }

    /** Returns what the freezes together say; empty: no experiment that the user may see is frozen, without retired ones. */
    public Optional<Swept> swept(Sight sight) {
        return jdbc.sql("""
                        with seen as (
                            select experiment_id, p.code || '/' || e.code as name, m.files + m.links as entries,
                                   least(f.entries_lost, m.files + m.links) as lost
                            from frozen_experiment f join living_experiment e using (experiment_id)
                            join project p using (project_id) join manifest m using (experiment_id, manifest_no)
                            where f.ended_at is null and f.released_at is null and in_sight(:seen, p.code)
                        )
                        select count(*) as experiments, sum(lost)::bigint as entries_lost, sum(entries)::bigint as entries,
                               (array_agg(name order by experiment_id))[1] as first,
                               array(select s.name from site s
                                     where s.removed_at is null and not exists (
                                             select from seen left join protection t
                                               on t.experiment_id = seen.experiment_id and t.site_id = s.site_id
                                             where t.entries = t.entries_safe is not true)
                                     order by s.name) as sites
                        from seen having count(*) > 0
                        """)
                .param("seen", sight.seen())
                .query(Rows.of(Swept.class))
                .optional();
    }

    /** Returns at most {@code limit} unreleased freezes that the user may see, by experiment, after {@code after}. */
    public List<Freeze> page(Sight sight, int after, int limit) {
        return jdbc.sql("""
                        select f.* from frozen_experiment f join living_experiment e using (experiment_id)
                        join project p using (project_id)
                        where f.experiment_id > :after and f.ended_at is null and f.released_at is null
                          and in_sight(:seen, p.code)
                        order by f.experiment_id limit :limit
                        """)
                .params(Map.of("seen", sight.seen(), "after", after, "limit", limit))
                .query(FREEZE)
                .list();
    }

    /** Returns the unreleased freezes of these experiments. */
    public List<Freeze> frozen(int[] experimentIds) {
        return jdbc.sql("""
                        select * from frozen_experiment
                        where experiment_id = any(:experiments) and ended_at is null and released_at is null
                        """).param("experiments", experimentIds).query(FREEZE).list();
    }

    /**
     * Lets the next look at the source seal what is there, even if it is as little as at the last look. If more was
     * lost in the meantime than a night may lose, the experiment is frozen again.
     *
     * @param seen the {@code lookedAt} of the freeze that the actor saw; null: whatever the last look found
     * @throws Refusal if it is not frozen, or was looked at again since
     */
    @Transactional
    public void release(Experiment experiment, String actor, @Nullable Instant seen) {
        // Until the end of this transaction, no look replaces what is released.
        Freeze freeze = find(experiment.id(), "for update")
                .filter(found -> !found.released())
                .orElseThrow(() -> Refusal.conflict("experiment", "%s is not frozen", experiment.name()));
        if (seen != null && !seen.equals(freeze.lookedAt())) {
            throw Refusal.conflict(
                    "experiment",
                    "%s was looked at again since: see what changed before you release it",
                    experiment.name());
        }
        jdbc.sql("""
                        update frozen_experiment set released_at = :now, released_by = :actor
                        where experiment_id = :experiment and ended_at is null
                        """)
                .params(Map.of("now", Timestamp.from(clock.instant()), "actor", actor, "experiment", experiment.id()))
                .update();
        ledger.append(
                actor,
                "experiment.released",
                experiment.name(),
                Map.of("entries_lost", freeze.entriesLost(), "bytes_lost", freeze.bytesLost()));
    }

    /** Freezes the experiment, or updates its freeze with the latest loss. */
    void freeze(Experiment experiment, int manifest, Lost lost, String message) {
        boolean already = frozen(experiment.id());
        jdbc.sql("""
                        insert into frozen_experiment (experiment_id, manifest_no, frozen_at, looked_at, entries_lost, bytes_lost, message)
                        values (:experiment, :manifest, :now, :now, :entries, :bytes, :message)
                        on conflict (experiment_id) where ended_at is null do update
                            set entries_lost = excluded.entries_lost, bytes_lost = excluded.bytes_lost,
                                looked_at = excluded.looked_at, message = excluded.message, signs = null, released_at = null, released_by = null
                        """)
                .params(Map.of("experiment", experiment.id(), "manifest", manifest))
                .params(Map.of("now", Timestamp.from(clock.instant()), "entries", lost.entries()))
                .params(Map.of("bytes", lost.bytes(), "message", message))
                .update();
        if (!already) {
            ledger.append(
                    Ledger.SYSTEM,
                    "experiment.frozen",
                    experiment.name(),
                    Map.of("manifest", manifest, "entries_lost", lost.entries(), "bytes_lost", lost.bytes()));
        }
    }

    /** Ends a freeze after a released experiment's source was read; the tripwire is armed again. */
    void end(int experimentId) {
        jdbc.sql("""
                        delete from frozen_change using frozen_experiment f
                        where frozen_change.freeze_id = f.freeze_id and f.experiment_id = :experiment and f.ended_at is null
                        """).param("experiment", experimentId).update();
        jdbc.sql("""
                        update frozen_experiment set ended_at = :now where experiment_id = :experiment and ended_at is null
                        """)
                .params(Map.of("now", Timestamp.from(clock.instant()), "experiment", experimentId))
                .update();
    }

    /**
     * Returns whether a loss in this experiment is part of a sweep: many experiments of its project lost their share
     * within a day. Frozen experiments count as losing their share.
     */
    boolean isSweep(Experiment losing, Tripwire tripwire) {
        return jdbc.sql("""
                        select count(*) filter (where l.experiment_id is not null and e.experiment_id <> :experiment) as losing,
                               count(*) as experiments
                        from living_experiment e join project p using (project_id)
                        left join (
                            select experiment_id from manifest where sealed_at > :since and percent_lost >= :percent
                            union
                            select experiment_id from frozen_experiment where ended_at is null and released_at is null
                        ) l using (experiment_id)
                        where p.code = :project
                          and exists (select from manifest m where m.experiment_id = e.experiment_id)
                        """)
                .params(Map.of("experiment", losing.id(), "project", losing.project()))
                .param("since", Timestamp.from(clock.instant().minus(SWEEP_WITHIN)))
                .param("percent", tripwire.percent())
                .query((row, n) -> Tripwire.isSweep(row.getLong("losing") + 1, row.getLong("experiments")))
                .single();
    }

    /** Returns the threshold of an experiment's project. */
    Tripwire tripwire(int experimentId) {
        return jdbc.sql("""
                        select tripwire_percent, tripwire_entries from project join experiment using (project_id)
                        where experiment_id = :experiment
                        """)
                .param("experiment", experimentId)
                .query((row, n) -> new Tripwire(row.getInt(1), row.getInt(2)))
                .single();
    }
}
