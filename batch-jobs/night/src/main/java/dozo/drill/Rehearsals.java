package dozo.drill;

import dozo.drill.DrillPromises.DrillPromise;
import dozo.drill.DrillPromises.Standing;
import dozo.file.FilePath;
import dozo.file.Size;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.OwnFolders;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.RestorePlaces;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Chooses what is rehearsed, at random, and hands it to the queue of restores: the latest wholly safe manifest of an
 * experiment, at a site that has it; a part of it if it is too large (ADR 0066).
 */
@Component
@EnableConfigurationProperties(DrillSettings.class)
public class Rehearsals {

    /** The schedule requests no more at a time, so that a new installation does not restore for days. */
    static final int PROJECTS_MAX = 10;

    /** A drill restores no more entries: a million small files would take hours, and show no more. */
    private static final int ENTRIES_MAX = 100_000;

    /** A drill fills at most half of the free space. */
    private static final int SHARE_OF_FREE = 2;

    private static final Logger LOG = LoggerFactory.getLogger(Rehearsals.class);

    private final JdbcClient jdbc;
    private final Restores restores;
    private final DrillPromises promises;
    private final RestoreQueue queue;
    private final Projects projects;
    private final Experiments experiments;
    private final Manifests manifests;
    private final Sites sites;
    private final RestorePlaces places;
    private final OwnFolders own;
    private final DrillSettings settings;
    private final InstantSource clock;

    private record Choice(int experimentId, int siteId, int manifest) {}

    Rehearsals(
            JdbcClient jdbc,
            Restores restores,
            DrillPromises promises,
            RestoreQueue queue,
            Projects projects,
            Experiments experiments,
            Manifests manifests,
            Sites sites,
            RestorePlaces places,
            OwnFolders own,
            DrillSettings settings,
            InstantSource clock) {
        this.jdbc = jdbc;
        this.restores = restores;
        this.promises = promises;
        this.queue = queue;
        this.projects = projects;
        this.experiments = experiments;
        this.manifests = manifests;
        this.sites = sites;
        this.places = places;
        this.own = own;
        this.settings = settings;
        this.clock = clock;
    }

    /** Returns when the schedule last requested a drill. Of the latest one, because the clock may have been set back. */
    public Optional<Instant> lastScheduled() {
        return jdbc.sql("""
                        select requested_at from drill join restore using (restore_id)
                        where requested_by = :dozo order by restore_id desc limit 1
                        """)
                .param("dozo", Ledger.SYSTEM)
                .query((row, n) -> row.getTimestamp(1).toInstant())
                .optional();
    }

    /** Requests a drill of each project that is due, the most urgent first. */
    public void requestDue() {
        Instant now = clock.instant();
        promises.all(Sight.EVERYTHING).stream()
                .filter(promise -> isDue(promise, now)
                        && restores.openDrill(promise.project()).isEmpty())
                .sorted(urgentFirst(now))
                .limit(PROJECTS_MAX)
                .forEach(promise -> {
                    try {
                        request(promise.project(), null, null, Ledger.SYSTEM);
                    } catch (Refusal refused) {
                        LOG.warn("no drill of project {}: {}", promise.project(), refused.getMessage());
                    }
                });
    }

    /** Returns whether half of the time has passed, so that a drill that fails can be repeated in time. */
    private static boolean isDue(DrillPromise promise, Instant now) {
        return switch (promise.standing()) {
            case FAILED, OVERDUE, NEVER -> true;
            case KEPT -> passed(promise, now) >= 0.5;
            case NOTHING -> false;
        };
    }

    /** Returns the share of the time that has passed. */
    private static double passed(DrillPromise promise, Instant now) {
        return promise.since() == null
                ? 0
                : (double) Duration.between(promise.since(), now).toSeconds()
                        / Duration.ofDays(promise.days()).toSeconds();
    }

    private static Comparator<DrillPromise> urgentFirst(Instant now) {
        return Comparator.comparing(DrillPromise::standing)
                .thenComparing(Comparator.comparingDouble((DrillPromise promise) -> passed(promise, now))
                        .reversed());
    }

    /**
     * Requests a drill.
     *
     * @param project null: the most urgent one
     * @param experiment its code in the project; null: any
     * @param site null: any
     * @throws Refusal if nothing of it is safe, no part is small enough, or a drill of the project has not ended
     */
    public KeptRestore request(
            @Nullable String project, @Nullable String experiment, @Nullable String site, String actor) {
        if (site != null) {
            sites.chosen(site);
        }
        String chosen = project != null ? project : mostUrgent();
        restores.refuseOpenDrill(chosen);
        Choice choice = choice(chosen, experiment, site).orElseThrow(() -> nothing(chosen, experiment, site));
        Experiment of = experiments.find(choice.experimentId).orElseThrow();
        Manifest manifest = manifests.find(choice.experimentId, choice.manifest).orElseThrow();
        Site from = sites.find(choice.siteId).orElseThrow();
        Path scratch = scratch();
        FilePath part = part(jdbc, of.name(), manifest, bytesMax(scratch));
        return queue.requestDrill(of, manifest, part, from, scratch, actor);
    }

    private Refusal nothing(String project, @Nullable String experiment, @Nullable String site) {
        if (projects.find(project).isEmpty()) {
            return new Refusal("project", "project \"%s\" does not exist", project);
        }
        if (experiment != null && experiments.find(project, experiment).isEmpty()) {
            return new Refusal("experiment", "experiment \"%s\" does not exist", project + "/" + experiment);
        }
        String what = experiment == null ? project : project + "/" + experiment;
        return site == null
                ? Refusal.conflict("project", "nothing of %s is safe, so there is nothing to rehearse", what)
                : Refusal.conflict(
                        "site", "nothing of %s is safe at site %s, so there is nothing to rehearse", what, site);
    }

    private String mostUrgent() {
        return promises.all(Sight.EVERYTHING).stream()
                .filter(promise -> promise.standing() != Standing.NOTHING)
                .min(urgentFirst(clock.instant()))
                .orElseThrow(() -> Refusal.conflict("project", "nothing is safe yet, so there is nothing to rehearse"))
                .project();
    }

    private Optional<Choice> choice(String project, @Nullable String experiment, @Nullable String site) {
        return jdbc.sql("""
                        select h.experiment_id, h.site_id, h.manifest_no as manifest
                        from rehearsable h join project p using (project_id)
                        join experiment e using (experiment_id) join site s using (site_id)
                        where p.code = :project and (:experiment::text is null or e.code = :experiment)
                          and (:site::text is null or s.name = :site)
                        order by random() limit 1
                        """)
                .param("project", project)
                .param("experiment", experiment)
                .param("site", site)
                .query(Rows.of(Choice.class))
                .optional();
    }

    /** Returns how much a drill may restore now. */
    long bytesMax(Path scratch) {
        return Math.min(settings.size().toBytes(), free(scratch) / SHARE_OF_FREE);
    }

    /** Returns the folder below which drills restore. */
    Path scratch() {
        if (settings.folder().isEmpty()) {
            return own.folders().getFirst().resolve("drills");
        }
        Path folder = Path.of(settings.folder());
        places.refuseSources("folder", List.of(folder));
        return folder;
    }

    static long free(Path scratch) {
        Path there = scratch.toAbsolutePath();
        while (!Files.exists(there)) {
            there = Objects.requireNonNull(there.getParent());
        }
        try {
            return Files.getFileStore(there).getUsableSpace();
        } catch (IOException e) {
            throw Refusal.conflict("folder", "the folder for drills cannot be used: %s", e.toString());
        }
    }

    /**
     * Returns what to restore of a manifest: everything if that is small enough, otherwise a random part. That is a
     * random file, with as many of the folders around it as are small enough.
     */
    static FilePath part(JdbcClient jdbc, String experiment, Manifest manifest, long bytesMax) {
        if (manifest.bytes() <= bytesMax && manifest.entries() <= ENTRIES_MAX) {
            return FilePath.ROOT;
        }
        return jdbc.sql("""
                        with held as materialized (
                            select entry_path(d.path, v.name) as path, v.kind, v.size_bytes
                            from entry_version v join directory d using (experiment_id, directory_no)
                            where experiment_id = :experiment and v.since_manifest <= :manifest
                              and coalesce(v.until_manifest > :manifest, true)
                        ), drawn as (
                            select path from held where kind = 'f' and size_bytes <= :bytes order by random() limit 1
                        ), around as (
                            select entry_path(way.folder, way.name) as path from drawn, names_on_way(drawn.path) as way
                        )
                        select a.path
                        from around a join held h on h.path = a.path
                            or substring(h.path for length(a.path) + 1) = a.path || '\\x2f'::bytea
                        group by a.path
                        having sum(h.size_bytes) <= :bytes and count(*) <= :entries
                        order by length(a.path) limit 1
                        """)
                .param("experiment", manifest.experimentId())
                .param("manifest", manifest.number())
                .param("bytes", bytesMax)
                .param("entries", ENTRIES_MAX)
                .query((row, n) -> FilePath.of(row.getBytes(1)))
                .optional()
                .orElseThrow(() -> Refusal.conflict(
                        "experiment",
                        "every file of %s is larger than a drill may be now, %s: free some space for drills, or increase DOZO_DRILL_SIZE",
                        experiment,
                        Size.text(bytesMax)));
    }
}
