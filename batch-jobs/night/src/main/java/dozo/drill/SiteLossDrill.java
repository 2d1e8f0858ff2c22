package dozo.drill;

import static java.util.Objects.requireNonNull;

import dozo.db.ActiveService;
import dozo.db.EmbeddedDatabase;
import dozo.db.EmbeddedDatabase.Access;
import dozo.drill.ScratchRestores.Chosen;
import dozo.drill.ScratchRestores.Restored;
import dozo.drill.SiteDrills.DrillEvidence;
import dozo.drill.SiteDrills.Limit;
import dozo.drill.SiteDrills.SiteDrill;
import dozo.drill.SiteDrills.SiteDrillState;
import dozo.file.Size;
import dozo.ledger.Failure;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.plan.RestoreCost;
import dozo.plan.RestoreCost.Measured;
import dozo.plan.RestoreCost.RestoreTime;
import dozo.plan.Work;
import dozo.record.CatalogueComparison;
import dozo.record.CatalogueComparison.Compared;
import dozo.record.CatalogueComparison.Written;
import dozo.registry.Refusal;
import dozo.registry.SiteLanes;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes;
import dozo.remote.Space;
import dozo.restore.TargetFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Drills of the loss of everything but a site and the recovery key (ADR 0112): rebuilds the catalogue in a scratch folder by the
 * command that a person would use, compares it with this one, and restores a sample out of it. One runs at a time; it waits while a
 * backup to its site runs. The site is only read.
 */
@Component
public class SiteLossDrill implements SmartLifecycle {

    private static final long LOOK_SECONDS = 15;

    /** How long a drill may take to stop when the process ends. */
    private static final long LEAVING_SECONDS = 40;

    /** A rebuilt catalogue and what loading it needs, in sizes of the database. */
    private static final int DATABASES = 2;

    /** PostgreSQL's programs, its log of changes, and an empty database. */
    private static final long SERVER_BYTES = 1L << 30;

    private static final int KEY_CHARACTERS_MAX = 64 << 10;

    /** Longer than clocks differ that are set by a network. */
    private static final long CLOCK_SECONDS_MAX = 60;

    private static final Logger LOG = LoggerFactory.getLogger(SiteLossDrill.class);

    private final SiteDrills drills;
    private final Rehearsals rehearsals;
    private final RestoreForecasts forecasts;
    private final Sites sites;
    private final SiteLanes lanes;
    private final ActiveService active;
    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final @Nullable ServiceProgram program;
    private final InstantSource clock;

    /** The drills of this process. */
    private final Set<Long> own = ConcurrentHashMap.newKeySet();

    private volatile @Nullable ScheduledExecutorService executor;

    /** A drill as requested. NB: nothing prints it, because of the key. */
    private record Asked(long id, Site site, @Nullable String key, boolean listsOnly, Path folder) {}

    /** What is found on the way. */
    private static final class Found {
        private final List<String> told = new ArrayList<>();
        private long count;
        private double rebuildSeconds;
        private Compared compared = new Compared(0, 0, 0, 0, List.of());
        private @Nullable Instant writtenAt;

        void tell(String what) {
            count++;
            if (told.size() < CatalogueComparison.TOLD_MAX) {
                told.add(what);
            }
        }
    }

    /** The forecast for all that a rebuilt catalogue has. */
    private record Rto(
            int experiments,
            int recent,
            @Nullable RestoreTime all,
            @Nullable Double recentSeconds,
            @Nullable Limit limit) {}

    SiteLossDrill(
            SiteDrills drills,
            Rehearsals rehearsals,
            RestoreForecasts forecasts,
            Sites sites,
            SiteLanes lanes,
            ActiveService active,
            JdbcTemplate template,
            Optional<ServiceProgram> program,
            InstantSource clock) {
        this.drills = drills;
        this.rehearsals = rehearsals;
        this.forecasts = forecasts;
        this.sites = sites;
        this.lanes = lanes;
        this.active = active;
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.program = program.orElse(null);
        this.clock = clock;
    }

    /**
     * Requests a drill, and returns before it is done.
     *
     * @param key the text of a recovery key, which is kept in memory until the end and nowhere else; null: only lists and bags are compared
     * @param listsOnly whether the site computes no digests of copies; always without a key
     * @throws Refusal if the scratch folder lacks room, nothing was recorded at the site, or a drill of it has not ended
     */
    public synchronized SiteDrill request(String site, @Nullable String key, boolean listsOnly, String actor) {
        Site of = sites.chosen(site);
        if (key != null && key.length() > KEY_CHARACTERS_MAX) {
            throw new Refusal("recoveryKey", "expected a private key: a line that begins with AGE-SECRET-KEY-1");
        }
        if (key != null && CatalogueComparison.written(jdbc, of.id()).isEmpty()) {
            throw Refusal.conflict(
                    "site",
                    "this database has written no record of the catalogue to site %s; the next night does",
                    site);
        }
        String room = room();
        String name = "site-drill-" + UUID.randomUUID();
        long id = drills.begin(of, key != null, key == null || listsOnly, name, room, actor);
        LOG.info("drill {} of site {}: {}", id, site, room);
        own.add(id);
        Asked asked = new Asked(id, of, key, key == null || listsOnly, folder(name));
        requireNonNull(executor).execute(() -> work(asked));
        return drills.find(id).orElseThrow();
    }

    /** Requests a drill of each site without the key, as far as that is possible. */
    public void requestAll() {
        for (Site site : sites.all()) {
            try {
                request(site.name(), null, true, Ledger.SYSTEM);
            } catch (Refusal refused) {
                LOG.warn("no drill of site {}: {}", site.name(), refused.getMessage());
            }
        }
    }

    private Path folder(String name) {
        return rehearsals.scratch().toAbsolutePath().normalize().resolve(name);
    }

    /** Returns what room there must be, and is. */
    private String room() {
        Path scratch = rehearsals.scratch();
        long database = jdbc.sql("select pg_database_size(current_database())")
                .query(Long.class)
                .single();
        long largest = jdbc.sql("select coalesce(max(bytes), 0) from manifest")
                .query(Long.class)
                .single();
        long free = Rehearsals.free(scratch);
        long needed = DATABASES * database + SERVER_BYTES + Math.min(largest, rehearsals.bytesMax(scratch));
        if (free < needed) {
            throw Refusal.conflict(
                    "folder",
                    "a drill of a site needs %s in %s, and %s are free: free some space, or set DOZO_DRILL_FOLDER",
                    Size.text(needed),
                    scratch.toString(),
                    Size.text(free));
        }
        return "needs up to %s; %s are free".formatted(Size.text(needed), Size.text(free));
    }

    @Override
    public synchronized void start() {
        ScheduledExecutorService made = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("site-drill").daemon().factory());
        if (program != null) {
            var _ = made.scheduleWithFixedDelay(this::breakOff, 0, LOOK_SECONDS, TimeUnit.SECONDS);
        }
        executor = made;
    }

    @Override
    public boolean isRunning() {
        return executor != null;
    }

    /** Breaks off a drill that runs, and those that wait. */
    @Override
    public void stop() {
        ScheduledExecutorService ended;
        synchronized (this) {
            ended = requireNonNull(executor);
            executor = null;
        }
        ended.shutdownNow();
        try {
            if (!ended.awaitTermination(LEAVING_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a drill of a site does not stop; the next start removes its folder");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends drills that no process works on, and removes what they have left here. */
    private void breakOff() {
        if (!active.isHere()) {
            return;
        }
        try {
            for (SiteDrills.Open left : drills.open()) {
                if (!own.contains(left.id())) {
                    Path folder = folder(left.scratch());
                    RebuildProcess.endLeft(folder);
                    TargetFolder.remove(folder);
                    drills.end(left.id(), SiteDrillState.BROKEN_OFF, DrillEvidence.NONE, "");
                    LOG.info("drill {} of a site was broken off by the end of its process", left.id());
                }
            }
        } catch (IOException | RuntimeException e) {
            // NB: the executor would never call again.
            LOG.warn("what a drill of a site has left is not removed yet: {}", e.toString());
        }
    }

    private void work(Asked asked) {
        SiteDrillState state = SiteDrillState.FAILED;
        DrillEvidence evidence = DrillEvidence.NONE;
        String message;
        try {
            RebuildProcess rebuild =
                    new RebuildProcess(requireNonNull(program), TargetFolder.makeScratch(asked.folder));
            Found found = new Found();
            evidence = drill(asked, rebuild, found);
            state = evidence.differences() == 0 ? SiteDrillState.COMPLETE : SiteDrillState.FINDINGS;
            message = say(asked);
        } catch (InterruptedException leaving) {
            message = "";
        } catch (Refusal | IOException e) {
            message = String.valueOf(e.getMessage());
        } catch (SQLException | RuntimeException e) {
            LOG.error("drill {} of site {} failed", asked.id, asked.site.name(), e);
            message = Failure.reason(e, "drill the site again");
        }
        if (!isRunning() && state == SiteDrillState.FAILED) {
            // An interrupt may end any wait with an exception.
            state = SiteDrillState.BROKEN_OFF;
            message = "";
        }
        end(asked, state, evidence, message.replace("\0", "\\0"));
    }

    private void end(Asked asked, SiteDrillState state, DrillEvidence evidence, String message) {
        // The interrupt was meant for the drill.
        boolean interrupted = Thread.interrupted();
        try {
            RebuildProcess.endLeft(asked.folder);
            TargetFolder.remove(asked.folder);
            drills.end(asked.id, state, evidence, message);
            LOG.info("drill {} of site {} ended: {} {}", asked.id, asked.site.name(), state, message);
        } catch (IOException | DataAccessException e) {
            LOG.warn("drill {} of site {} is not ended yet: {}", asked.id, asked.site.name(), e.toString());
        } finally {
            // What is still open is broken off by the next look.
            own.remove(asked.id);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private DrillEvidence drill(Asked asked, RebuildProcess rebuild, Found found)
            throws IOException, SQLException, InterruptedException {
        Optional<Written> before = CatalogueComparison.written(jdbc, asked.site.id());
        int exit = rebuilt(asked, rebuild, found);
        if (exit != RebuildProcess.WELL && exit != RebuildProcess.FINDINGS) {
            throw new IOException(rebuild.said(exit));
        }
        try (EmbeddedDatabase database = EmbeddedDatabase.start(rebuild.database())) {
            PGSimpleDataSource source = source(database.owner());
            JdbcClient there = JdbcClient.create(source);
            findings(there, asked.key != null).forEach(found::tell);
            if (asked.key == null) {
                compareBags(asked.site, there, found);
            } else {
                compare(asked.site, there, source, before.orElseThrow(), found);
            }
            return restored(asked, there, found);
        }
    }

    /** Returns what the rebuild found. Without records it knows no earlier versions, which is no finding of a drill. */
    private static List<String> findings(JdbcClient there, boolean keyed) {
        return there.sql("""
                        select f.message from run_finding l join finding f using (finding_id)
                        where l.run_id = (select max(run_id) from run where kind = 'rebuild')
                          and (:keyed or f.message not like '%earlier versions of files stay at the site%')
                        order by finding_id
                        """)
                .param("keyed", keyed)
                .query((row, n) -> row.getString(1))
                .list();
    }

    private static PGSimpleDataSource source(Access access) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(access.url());
        source.setUser(access.user());
        source.setPassword(access.password());
        return source;
    }

    /** Rebuilds, and goes on after each backup to the site. What a stop has left half loaded is begun again. */
    private int rebuilt(Asked asked, RebuildProcess rebuild, Found found) throws IOException, InterruptedException {
        boolean yielded = false;
        while (true) {
            awaitNoBackup(asked.site);
            long began = System.nanoTime();
            int exit = rebuild.run(asked.site, asked.key, asked.listsOnly, () -> isBackedUp(asked.site));
            found.rebuildSeconds += (System.nanoTime() - began) / 1e9;
            if (exit == RebuildProcess.REFUSED && yielded) {
                TargetFolder.remove(rebuild.database());
                yielded = false;
            } else if (exit != RebuildProcess.STOPPED) {
                return exit;
            } else {
                yielded = true;
            }
        }
    }

    private boolean isBackedUp(Site site) {
        return jdbc.sql(
                        "select exists (select from run where site_id = :site and ended_at is null and kind not like '%crub')")
                .param("site", site.id())
                .query(Boolean.class)
                .single();
    }

    private void awaitNoBackup(Site site) throws InterruptedException {
        while (isBackedUp(site)) {
            TimeUnit.SECONDS.sleep(1);
        }
    }

    private void compare(Site site, JdbcClient there, PGSimpleDataSource source, Written before, Found found)
            throws SQLException {
        Optional<Instant> loaded = CatalogueComparison.loadedFrom(there);
        if (loaded.isEmpty()) {
            found.tell("no base record of the catalogue could be loaded");
            return;
        }
        found.writtenAt = loaded.get();
        Written now = CatalogueComparison.written(jdbc, site.id()).orElse(before);
        Optional<Written> known = Stream.of(before, now)
                .filter(each -> each.at().equals(loaded.get()))
                .findFirst();
        if (known.isEmpty()) {
            found.tell("the base record at the site is of %s, and this catalogue wrote its last one at %s"
                    .formatted(loaded.get(), now.at()));
        }
        if (loaded.get().isAfter(clock.instant().plusSeconds(CLOCK_SECONDS_MAX))) {
            found.tell("the base record at the site is of %s, which is in the future: a clock is or was wrong"
                    .formatted(loaded.get()));
        }
        Compared compared = new CatalogueComparison(
                        requireNonNull(template.getDataSource()), source, site.id(), known.orElse(now))
                .compare();
        compared.told().forEach(found::tell);
        found.count += compared.differences() - compared.told().size();
        found.compared = compared;
    }

    /** Without the records: what is wholly safe here must be there, under the same name and in the same numbers. */
    private void compareBags(Site site, JdbcClient there, Found found) {
        Set<String> bags = new HashSet<>(bags(there, "(select *, 0 as site_id from manifest)", 0));
        List<String> safe =
                bags(jdbc, "(select * from rehearsable join manifest using (experiment_id, manifest_no))", site.id());
        safe.stream().filter(bag -> !bags.contains(bag)).forEach(bag -> found.tell("the site has no such bag: " + bag));
        found.compared = new Compared(safe.size(), 0, 0, 0, List.of());
    }

    /** Returns current manifests in words. */
    private static List<String> bags(JdbcClient catalogue, String from, int siteId) {
        return catalogue
                .sql("""
                        select format('%%s/%%s, manifest %%s, %%s files, %%s bytes', p.code, e.code, manifest_no, files, bytes)
                        from %s m join experiment e using (experiment_id) join project p on p.project_id = e.project_id
                        where site_id = :site
                          and manifest_no = (select max(manifest_no) from manifest l where l.experiment_id = e.experiment_id)
                        """.formatted(from))
                .param("site", siteId)
                .query((row, n) -> row.getString(1))
                .list();
    }

    private DrillEvidence restored(Asked asked, JdbcClient there, Found found) throws InterruptedException {
        ScratchRestores restores = new ScratchRestores(there, asked.site, lanes);
        List<Chosen> sample = restores.chosen();
        for (Chosen one : sample) {
            awaitNoBackup(asked.site);
            restores.restore(one, asked.folder.resolve("restored"), rehearsals.bytesMax(asked.folder), found::tell);
        }
        Restored restored = restores.restored();
        if (!sample.isEmpty() && restored.experiments() == 0) {
            found.tell("nothing could be restored");
        }
        Rto rto = rto(asked.site, there, found.rebuildSeconds, restored.measured());
        RestoreTime all = rto.all;
        return new DrillEvidence(
                found.writtenAt,
                found.rebuildSeconds,
                found.compared.rows(),
                found.compared.explained(),
                found.compared.digests(),
                found.count,
                rto.experiments,
                restored.experiments(),
                restored.entries(),
                restored.bytes(),
                restored.seconds(),
                all == null ? null : all.seconds(),
                all == null ? null : all.leastSeconds(),
                all == null ? null : all.mostSeconds(),
                rto.recent,
                rto.recentSeconds,
                rto.limit,
                List.copyOf(found.told));
    }

    /** Returns the forecast for the rebuild, as measured, and restores of everything, one after the other. */
    private Rto rto(Site site, JdbcClient there, double rebuild, List<Measured> measured) {
        record Sum(int experiments, long entries, long bytes, int recent, long recentEntries, long recentBytes) {}
        Sum sum = there.sql("""
                        select count(*) as experiments, coalesce(sum(entries), 0)::bigint as entries,
                               coalesce(sum(bytes), 0)::bigint as bytes, count(*) filter (where recent) as recent,
                               coalesce(sum(entries) filter (where recent), 0)::bigint as recent_entries,
                               coalesce(sum(bytes) filter (where recent), 0)::bigint as recent_bytes
                        from (select distinct on (experiment_id) m.files + m.folders + m.links as entries, m.bytes,
                                     coalesce(e.acquired_on::timestamptz, e.registered_at) > :month as recent
                              from manifest m join experiment e using (experiment_id)
                              order by experiment_id, manifest_no desc) latest
                        """)
                .param("month", Timestamp.from(clock.instant().minus(Duration.ofDays(30))))
                .query(Rows.of(Sum.class))
                .single();
        Optional<RestoreCost> known = forecasts.cost(site.id(), measured);
        if (known.isEmpty()) {
            return new Rto(sum.experiments, sum.recent, null, null, null);
        }
        RestoreCost cost = known.get();
        RestoreTime all = cost.of(sum.experiments, new Work(sum.bytes, sum.entries));
        Map<Limit, Double> parts = new EnumMap<>(Map.of(
                Limit.REBUILD,
                rebuild,
                Limit.EXPERIMENTS,
                sum.experiments * cost.startSeconds(),
                Limit.FILES,
                sum.entries * cost.model().secondsPerEntry(),
                Limit.BYTES,
                sum.bytes / cost.model().bytesPerSecond()));
        return new Rto(
                sum.experiments,
                sum.recent,
                new RestoreTime(
                        rebuild + all.seconds(),
                        rebuild + all.leastSeconds(),
                        rebuild + all.mostSeconds(),
                        all.beyond()),
                rebuild
                        + cost.of(sum.recent, new Work(sum.recentBytes, sum.recentEntries))
                                .seconds(),
                parts.entrySet().stream()
                        .max(Map.Entry.comparingByValue())
                        .orElseThrow()
                        .getKey());
    }

    /** Says what is not to be seen in the numbers. */
    private String say(Asked asked) throws InterruptedException {
        List<String> says = new ArrayList<>(List.of("nothing was written at the site"));
        try (Lanes lane = lanes.to(asked.site, 1)) {
            Optional<Space> space = lane.next().sftp().space();
            space.filter(Space::readOnly).ifPresent(_ -> says.add("its file system is mounted read-only"));
            space.filter(Space::full).ifPresent(_ -> says.add("its file system is full"));
        } catch (IOException e) {
            says.add("its free space is unknown: " + e.getMessage());
        }
        if (asked.key == null) {
            says.add("without the recovery key, only lists and bags were compared");
        } else if (asked.listsOnly) {
            says.add("the site computed no digests of copies");
        }
        return String.join("; ", says);
    }
}
