package dozo.restore;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Selection;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.RestorePlaces;
import dozo.registry.Sites.Site;
import dozo.restore.Chosen.Order;
import dozo.restore.Restores.RestoreState;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Whose turn it is: batches take one experiment after the other, and the batch that was requested first goes first. */
@Component
class BatchTurns {

    /** The maximum number of experiments in a batch. */
    static final int EXPERIMENTS_MAX = 100_000;

    /** The maximum number of batches that have not ended. */
    private static final int OPEN_MAX = 100;

    /** After so many failures one after the other the batch ends: it is the target or the site that fails. */
    static final int FAILURES_IN_A_ROW_MAX = 8;

    /** So many wrong lines of a list are named. */
    private static final int NAMED_MAX = 10;

    private final JdbcClient jdbc;
    private final Restores restores;
    private final RestoreBatches batches;
    private final RestorePlaces places;
    private final Projects projects;
    private final Ledger ledger;
    private final InstantSource clock;
    private final ZoneId zone;

    /** An experiment whose turn it is. */
    record Due(
            long batch,
            int position,
            String experiment,
            @Nullable Integer manifest,
            String site,
            BatchTarget target,
            String actor) {}

    private record Line(int n, @Nullable Integer experimentId, String name) {}

    BatchTurns(
            JdbcClient jdbc,
            Restores restores,
            RestoreBatches batches,
            RestorePlaces places,
            Projects projects,
            Ledger ledger,
            InstantSource clock,
            ZoneId zone) {
        this.jdbc = jdbc;
        this.restores = restores;
        this.batches = batches;
        this.places = places;
        this.projects = projects;
        this.ledger = ledger;
        this.clock = clock;
        this.zone = zone;
    }

    /**
     * Adds a batch.
     *
     * @param sight only these experiments are restored or listed
     * @param asOf of each experiment the latest manifest at this time; null: the latest
     * @throws Refusal if an experiment in the list is unknown or repeated, nothing or too much is chosen, the folder is not allowed
     *     for each project, or too many batches wait
     */
    @Transactional
    long add(Sight sight, Chosen chosen, @Nullable Instant asOf, BatchTarget target, Site site, String actor) {
        int[] experiments = switch (chosen) {
            case Chosen.Listed(List<String> names) -> listed(sight, names);
            case Chosen.All(@Nullable String project, Order order) -> all(sight, project, order);
        };
        if (experiments.length == 0 || experiments.length > EXPERIMENTS_MAX) {
            throw new Refusal(
                    "experiments", "expected 1 to %d experiments, not %d", EXPERIMENTS_MAX, experiments.length);
        }
        if (jdbc.sql("select count(*) from restore_batch where ended_at is null")
                        .query((row, n) -> row.getInt(1))
                        .single()
                >= OPEN_MAX) {
            throw Refusal.conflict("batch", "%d batches are waiting already; try again later", OPEN_MAX);
        }
        if (target instanceof BatchTarget.Below below) {
            checkPlaces(below, experiments);
        }
        long id = insert(target, site, actor);
        jdbc.sql("""
                        insert into restore_batch_item (batch_id, position, experiment_id, manifest_no)
                        select :id, n, experiment_id, m.manifest_no
                        from unnest(:experiments) with ordinality t (experiment_id, n)
                        left join lateral (select manifest_no from manifest
                                           where experiment_id = t.experiment_id
                                             and (:asOf::timestamptz is null or sealed_at <= :asOf)
                                           order by manifest_no desc limit 1) m on true
                        """)
                .param("id", id)
                .param("experiments", experiments)
                .param("asOf", asOf == null ? null : Timestamp.from(asOf))
                .update();
        record(actor, "requested", id);
        return id;
    }

    private int[] listed(Sight sight, List<String> names) {
        List<Line> lines = jdbc.sql("""
                        select n, experiment_id, name
                        from unnest(:names::text[]) with ordinality t (name, n)
                        left join (experiment join project p using (project_id))
                             on p.code || '/' || experiment.code = name and in_sight(:seen, p.code)
                        where name <> ''
                        order by n
                        """)
                .param("names", names.stream().map(String::strip).toArray(String[]::new))
                .param("seen", sight.seen())
                .query(Rows.of(Line.class))
                .list();
        List<Line> unknown =
                lines.stream().filter(line -> line.experimentId == null).toList();
        if (!unknown.isEmpty()) {
            throw new Refusal("experiments", "there are no such experiments, by line: %s", named(unknown));
        }
        Set<String> before = new HashSet<>();
        List<Line> repeated =
                lines.stream().filter(line -> !before.add(line.name)).toList();
        if (!repeated.isEmpty()) {
            throw new Refusal("experiments", "these experiments are repeated, by line: %s", named(repeated));
        }
        return lines.stream()
                .mapToInt(line -> requireNonNull(line.experimentId))
                .toArray();
    }

    private static String named(List<Line> lines) {
        String named = lines.stream()
                .limit(NAMED_MAX)
                .map(line -> line.n + " \"" + line.name + '"')
                .collect(Collectors.joining(", "));
        return lines.size() > NAMED_MAX ? "%s … (%d)".formatted(named, lines.size()) : named;
    }

    private int[] all(Sight sight, @Nullable String project, Order order) {
        if (project != null && (!sight.sees(project) || projects.find(project).isEmpty())) {
            throw Experiments.noProject(project);
        }
        return jdbc
                .sql("""
                        select e.experiment_id
                        from living_experiment e join project p using (project_id)
                        left join (select project_id, min(scheduled_on) as next_on from booking
                                   where :byBookings and scheduled_on >= :today group by project_id) b using (project_id)
                        where in_sight(:seen, p.code) and (:project::text is null or p.code = :project)
                        order by b.next_on nulls last, coalesce(e.acquired_on, e.registered_at::date) desc, e.experiment_id desc
                        """)
                .param("byBookings", order == Order.BOOKINGS)
                .param("today", LocalDate.ofInstant(clock.instant(), zone))
                .param("seen", sight.seen())
                .param("project", project)
                .query((row, n) -> row.getInt(1))
                .list()
                .stream()
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private void checkPlaces(BatchTarget.Below below, int[] experiments) {
        jdbc.sql("""
                        select distinct on (p.code) p.code, e.code as experiment from experiment e join project p using (project_id)
                        where experiment_id = any(:experiments) order by p.code
                        """)
                .param("experiments", experiments)
                .query((row, n) -> List.of(row.getString(1), row.getString(2)))
                .list()
                .forEach(first -> places.find(first.getFirst(), below.folder().resolve(String.join(".", first))));
    }

    private long insert(BatchTarget target, Site site, String actor) {
        return jdbc.sql("""
                        insert into restore_batch (site_id, folder, origin, replaces, requested_by, requested_at)
                        values (:site, :folder, :origin, :replaces, :actor, :now)
                        returning batch_id
                        """)
                .param("site", site.id())
                .param(
                        "folder",
                        target instanceof BatchTarget.Below below ? FilePath.rawBytes(below.folder()) : null,
                        Types.BINARY)
                .param("origin", target instanceof Target.Archive archive ? archive.origin() : null, Types.VARCHAR)
                .param("replaces", target instanceof Target.Archive archive && archive.replaces())
                .param("actor", actor)
                .param("now", now())
                .query((row, n) -> row.getLong(1))
                .single();
    }

    /**
     * Ends the batches of which nothing is left; returns the experiment whose turn it is. To be called only while no restore
     * waits or runs.
     */
    @Transactional
    Optional<Due> due() {
        for (long id : jdbc.sql("select batch_id from restore_batch where ended_at is null order by batch_id")
                .query((row, n) -> row.getLong(1))
                .list()) {
            Optional<Due> due = isFailing(id) ? Optional.empty() : first(id);
            if (due.isPresent()) {
                return due;
            }
            end(id);
        }
        return Optional.empty();
    }

    private boolean isFailing(long id) {
        return jdbc.sql("""
                        select count(*) filter (where state = 'FAILED') from (
                            select r.state from restore_batch_item i join restore r using (restore_id)
                            where i.batch_id = :id order by i.position desc limit :most) latest
                        """)
                        .param("id", id)
                        .param("most", FAILURES_IN_A_ROW_MAX)
                        .query((row, n) -> row.getInt(1))
                        .single()
                == FAILURES_IN_A_ROW_MAX;
    }

    private Optional<Due> first(long id) {
        return jdbc.sql("""
                        select i.*, b.*, s.name as site, p.code || '/' || e.code as experiment
                        from restore_batch_item i join restore_batch b using (batch_id) join site s using (site_id)
                        join experiment e using (experiment_id) join project p using (project_id)
                        where i.batch_id = :id and i.restore_id is null and i.refused is null
                        order by i.position limit 1
                        """)
                .param("id", id)
                .query((row, n) -> new Due(
                        id,
                        row.getInt("position"),
                        row.getString("experiment"),
                        (Integer) row.getObject("manifest_no"),
                        row.getString("site"),
                        RestoreBatches.target(row),
                        row.getString("requested_by")))
                .optional();
    }

    private void end(long id) {
        jdbc.sql("""
                        update restore_batch set ended_at = :now, state = (
                            select case when bool_and(state = 'COMPLETE') then 'COMPLETE'
                                        when bool_or(state = 'WAITING') then 'FAILED' else 'FINDINGS' end
                            from restore_batch_place where batch_id = :id)
                        where batch_id = :id
                        """).param("now", now()).param("id", id).update();
        record(Ledger.SYSTEM, "ended", id);
    }

    /** Requests the restore of an experiment whose turn it is: both are recorded, or neither. */
    @Transactional
    KeptRestore request(Due due, Experiment experiment, Manifest manifest, Site site, Target target) {
        KeptRestore added = restores.add(experiment, manifest, Selection.ALL, site, target, due.actor);
        update(due, added.id(), null);
        return added;
    }

    /** Records that the restore of an experiment cannot be requested. */
    @Transactional
    void refuse(Due due, String why) {
        update(due, null, why.replace("\0", "\\0"));
    }

    private void update(Due due, @Nullable Long restore, @Nullable String refused) {
        jdbc.sql("""
                        update restore_batch_item set restore_id = :restore, refused = :refused
                        where batch_id = :batch and position = :position
                        """)
                .param("restore", restore, Types.BIGINT)
                .param("refused", refused, Types.VARCHAR)
                .param("batch", due.batch)
                .param("position", due.position)
                .update();
    }

    /**
     * Ends a batch before its time. Returns its restore that waits or runs.
     *
     * @throws Refusal if it has ended, or has experiments that the user does not see
     */
    @Transactional
    Optional<Long> stop(Sight sight, long id, String actor) {
        requireAll(sight, id);
        if (jdbc.sql(
                                "update restore_batch set state = 'STOPPED', ended_at = :now where batch_id = :id and ended_at is null")
                        .param("now", now())
                        .param("id", id)
                        .update()
                == 0) {
            throw Refusal.conflict("batch", "batch %d has ended", id);
        }
        record(actor, "stopped", id);
        return jdbc.sql("""
                        select restore_id from restore_batch_item join restore using (restore_id)
                        where batch_id = :id and ended_at is null
                        """).param("id", id).query((row, n) -> row.getLong(1)).optional();
    }

    /**
     * Lets a batch that has ended do what is not complete.
     *
     * @throws Refusal if it goes on or is complete, or has experiments that the user does not see
     */
    @Transactional
    void resume(Sight sight, long id, String actor) {
        requireAll(sight, id);
        if (jdbc.sql("""
                        update restore_batch set state = 'RUNNING', ended_at = null
                        where batch_id = :id and state in ('FINDINGS', 'FAILED', 'STOPPED')
                        """).param("id", id).update() == 0) {
            throw Refusal.conflict("batch", "batch %d goes on, or is complete", id);
        }
        jdbc.sql("""
                        update restore_batch_item i set restore_id = null, refused = null
                        where batch_id = :id and not exists (
                            select from restore r where r.restore_id = i.restore_id and (r.state = 'COMPLETE' or r.ended_at is null))
                        """).param("id", id).update();
        record(actor, "resumed", id);
    }

    private void requireAll(Sight sight, long id) {
        if (jdbc.sql(
                        "select exists (select from restore_batch_place where batch_id = :id and not in_sight(:seen, project))")
                .param("id", id)
                .param("seen", sight.seen())
                .query((row, n) -> row.getBoolean(1))
                .single()) {
            throw new Refusal("batch", "batch %d has experiments of other projects, too; ask an operator", id);
        }
    }

    private Timestamp now() {
        return Timestamp.from(clock.instant());
    }

    private void record(String actor, String what, long id) {
        RestoreBatch batch = batches.find(Sight.EVERYTHING, id).orElseThrow();
        Map<String, Object> detail = new HashMap<>(Map.of(
                "site",
                batch.site(),
                "experiments",
                batch.experiments(),
                "files",
                batch.files(),
                "bytes",
                batch.bytes()));
        switch (batch.target()) {
            case BatchTarget.Below below -> detail.put("folder", Digest.ofContent(FilePath.rawBytes(below.folder())));
            case BatchTarget.Sources _ -> detail.put("in_place", true);
            case Target.Archive archive -> {
                detail.put("origin", archive.origin());
                detail.put("replaces", archive.replaces());
            }
        }
        if (batch.state() != RestoreState.RUNNING) {
            detail.put("state", batch.state());
            detail.put("complete", batch.complete());
        }
        ledger.append(actor, "batch." + what, String.valueOf(id), detail);
    }
}
