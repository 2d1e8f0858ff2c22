package dozo.restore;

import static java.util.Objects.requireNonNull;

import dozo.copy.Copy;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.copy.Restore;
import dozo.db.ActiveService;
import dozo.db.LostDatabase;
import dozo.file.FilePath;
import dozo.file.Selection;
import dozo.ledger.Failure;
import dozo.ledger.Sight;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.FileQuestion;
import dozo.registry.Refusal;
import dozo.registry.RestorePlaces;
import dozo.registry.SiteLanes;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.restore.BatchTurns.Due;
import dozo.restore.HomePlaces.HomePlace;
import dozo.restore.Restores.RestoreState;
import dozo.restore.Restores.Took;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Runs the requested restores one after the other, with the service's own key for the site. The queue is in the
 * database: a new process continues what an earlier one left, and files that are already in the folder are not fetched
 * again.
 *
 * <p>The folder of a restore is checked at the request and again at the beginning. From then on it is held open, so
 * that a user who may write above it cannot redirect the restore (ADR 0049).
 *
 * <p>While no restore waits, the experiments of {@linkplain RestoreBatches batches} are requested, one after the other.
 *
 * <p>Drills are restores of this queue into a scratch folder. They wait for backups and for people (ADR 0066).
 */
@Component
public class RestoreQueue implements SmartLifecycle {

    /** Also the pause after the database did not respond. */
    private static final long LOOK_SECONDS = 15;

    /** How long a restore is tried again when its site is lost. Drills are not: a drill says what a restore would have met. */
    private static final long AWAY_SECONDS_MAX = 300;

    /** How long a running restore may take to stop when the process ends. */
    private static final long LEAVING_SECONDS = 25;

    static final Progress NONE = new Progress(0, 0, false, 0, 0, 0, 0);

    private static final Logger LOG = LoggerFactory.getLogger(RestoreQueue.class);

    private final Restores restores;
    private final RestorePlaces places;
    private final HomePlaces homes;
    private final Inventories inventories;
    private final Experiments experiments;
    private final Manifests manifests;
    private final Sites sites;
    private final ActiveService active;
    private final SiteLanes lanes;
    private final RestoreBatches batches;
    private final BatchTurns turns;
    private final @Nullable Archives archives;
    private @Nullable ScheduledExecutorService executor;

    private volatile boolean leaving;

    /** The restore whose site was lost. Only the thread that restores uses it. */
    private @Nullable Away away;

    /** A restore whose site was lost, and when, by {@link System#nanoTime}. */
    private record Away(long id, long sinceNanos) {}

    private record End(RestoreState state, String message, Progress progress) {}

    public RestoreQueue(
            Restores restores,
            RestorePlaces places,
            HomePlaces homes,
            Inventories inventories,
            Experiments experiments,
            Manifests manifests,
            Sites sites,
            ActiveService active,
            SiteLanes lanes,
            RestoreBatches batches,
            BatchTurns turns,
            Optional<Archives> archives) {
        this.restores = restores;
        this.places = places;
        this.homes = homes;
        this.inventories = inventories;
        this.experiments = experiments;
        this.manifests = manifests;
        this.sites = sites;
        this.active = active;
        this.lanes = lanes;
        this.batches = batches;
        this.turns = turns;
        this.archives = archives.orElse(null);
    }

    /**
     * Requests the restore of an experiment's manifest into a folder of this machine, and returns before it is done.
     *
     * @param selection what of it
     * @param folder missing, or empty and the service user's own, or the result of an earlier restore of this manifest
     * @throws Refusal if nothing may be restored into this folder, or too many restores wait
     */
    public synchronized KeptRestore request(
            Experiment experiment, Manifest manifest, Selection selection, Site site, Path folder, String actor) {
        Target target = folder(experiment, manifest, selection, site, folder);
        return added(experiment, manifest, selection, site, target, actor);
    }

    private Target folder(Experiment experiment, Manifest manifest, Selection selection, Site site, Path folder) {
        Path target = places.find(experiment.project(), folder);
        try (Restore restore = restore(experiment.name(), manifest, selection, site, target, false)) {
            refuseUnmatched(experiment, restore.mayMatch());
            Optional<Refusal> unfit = new FileQuestion<>(path -> TargetFolder.unfit(restore, target, path, false))
                    .about("folder", target, FileQuestion.PERSON);
            if (unfit.isPresent()) {
                throw unfit.get();
            }
        } catch (IOException e) {
            throw new Refusal(
                    "folder", "%s cannot be read: %s", TargetFolder.shown(target), String.valueOf(e.getMessage()));
        }
        return new Target.Folder(target);
    }

    /**
     * Requests the restore of an experiment's manifest into its source, and returns before it is done. What stands there and differs is
     * put aside.
     *
     * @param selection what of it
     * @throws Refusal if the service may not write there, nothing can be put aside, or too many restores wait
     */
    public synchronized KeptRestore requestInPlace(
            Experiment experiment, Manifest manifest, Selection selection, Site site, String actor) {
        Target target = source(experiment, manifest, selection, site);
        return added(experiment, manifest, selection, site, target, actor);
    }

    private Target source(Experiment experiment, Manifest manifest, Selection selection, Site site) {
        HomePlace place = homes.of(experiment);
        refuseUnmatched(
                experiment, part(experiment.name(), manifest, selection, site).mayMatch());
        return new Target.InPlace(place.source(), place.aside());
    }

    /**
     * Requests the restore of the DICOM files of an experiment's manifest into an archive, and returns before it is done.
     *
     * @param selection what of it
     * @throws Refusal if there is no such archive, nothing is selected, or too many restores wait
     */
    public synchronized KeptRestore request(
            Experiment experiment,
            Manifest manifest,
            Selection selection,
            Site site,
            Target.Archive archive,
            String actor) {
        archives().check(archive.origin());
        refuseUnmatched(
                experiment, part(experiment.name(), manifest, selection, site).mayMatch());
        return added(experiment, manifest, selection, site, archive, actor);
    }

    /**
     * Requests the restores of many experiments, one after the other, and returns before they are done.
     *
     * @param sight only these experiments can be chosen
     * @param asOf of each experiment the latest manifest at this time; null: the latest
     * @return the number of the batch
     * @throws Refusal if an experiment in the list is unknown or repeated, nothing or too much is chosen, there is no such archive,
     *     the folder is not allowed for each project, or too many batches wait
     */
    public long requestBatch(
            Sight sight, Chosen chosen, @Nullable Instant asOf, BatchTarget target, Site site, String actor) {
        if (target instanceof Target.Archive archive) {
            archives().check(archive.origin());
        }
        long id = turns.add(sight, chosen, asOf, target, site, actor);
        goFirst();
        return id;
    }

    /**
     * Stops a batch and its restore that waits or runs. What is restored stays.
     *
     * @throws Refusal if it has ended, or has experiments that the user does not see
     */
    public synchronized void stopBatch(Sight sight, long id, String actor) {
        turns.stop(sight, id, actor).filter(restore -> !isEnding(restore)).ifPresent(restore -> stop(restore, actor));
    }

    /** Returns whether a restore has a result that may not be recorded yet. */
    private boolean isEnding(long id) {
        return restores.latest()
                .filter(now -> now.id == id && now.over && now.ended)
                .isPresent();
    }

    /**
     * Lets a batch that has ended do what is not complete.
     *
     * @throws Refusal if it goes on or is complete, or has experiments that the user does not see
     */
    public void resumeBatch(Sight sight, long id, String actor) {
        turns.resume(sight, id, actor);
        goFirst();
    }

    private Archives archives() {
        if (archives == null) {
            throw new Refusal("origin", "this program has no origins");
        }
        return archives;
    }

    private static void refuseUnmatched(Experiment experiment, boolean mayMatch) {
        if (!mayMatch) {
            throw new Refusal("paths", "%s has nothing with this path in the requested state", experiment.name());
        }
    }

    private KeptRestore added(
            Experiment experiment, Manifest manifest, Selection selection, Site site, Target target, String actor) {
        KeptRestore added = restores.add(experiment, manifest, selection, site, target, actor);
        goFirst();
        return added;
    }

    /** Puts back a drill that is under way, and looks for what is to do. */
    private synchronized void goFirst() {
        underWay().filter(now -> now.drill).ifPresent(now -> {
            now.putBack = true;
            now.thread.interrupt();
        });
        look();
    }

    /**
     * Requests a drill: a restore into a new folder below {@code scratch}, which is removed when the drill has ended.
     * It waits for backups and for the restores of people; one that is requested while it runs puts it back.
     *
     * @param part a folder or file of the manifest, {@link FilePath#ROOT} for everything
     * @throws Refusal if too many restores wait
     */
    public synchronized KeptRestore requestDrill(
            Experiment experiment, Manifest manifest, FilePath part, Site site, Path scratch, String actor) {
        Path folder = scratch.toAbsolutePath().normalize().resolve("drill-" + UUID.randomUUID());
        KeptRestore added =
                restores.add(experiment, manifest, Selection.of(part), site, new Target.Scratch(folder), actor);
        look();
        return added;
    }

    private Optional<BegunRestore> underWay() {
        return restores.latest().filter(now -> !now.over);
    }

    /**
     * Stops a restore that waits or runs. The files in its folder stay, and the same restore into it fetches the rest;
     * those of a drill are removed.
     *
     * @throws Refusal if it has ended
     */
    public synchronized void stop(long id, String actor) {
        Optional<BegunRestore> begun = restores.latest().filter(now -> now.id == id);
        if (isEnding(id)) {
            throw Restores.hasEnded(id);
        }
        restores.stopping(id, actor);
        begun.filter(now -> !now.over)
                .ifPresentOrElse(
                        now -> {
                            now.stopped = true;
                            now.thread.interrupt();
                        },
                        () -> restores.end(id, RestoreState.STOPPED, "", NONE, null));
    }

    @Override
    public synchronized void start() {
        leaving = false;
        ScheduledExecutorService made = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().name("restore").daemon().factory());
        var _ = made.scheduleWithFixedDelay(this::work, 0, LOOK_SECONDS, TimeUnit.SECONDS);
        executor = made;
    }

    @Override
    public boolean isRunning() {
        return executor != null;
    }

    /** Leaves a running restore unfinished; the next start continues it. */
    @Override
    public void stop() {
        ScheduledExecutorService ended;
        synchronized (this) {
            leaving = true;
            ended = requireNonNull(executor);
            executor = null;
            ended.shutdown();
            underWay().ifPresent(now -> now.thread.interrupt());
        }
        try {
            if (!ended.awaitTermination(LEAVING_SECONDS, TimeUnit.SECONDS)) {
                LOG.warn("a restore does not stop; the next start continues it");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void look() {
        if (executor != null) {
            executor.execute(this::work);
        }
    }

    private void work() {
        try {
            Optional<KeptRestore> next = next();
            while (next.isPresent()) {
                work(next.get());
                next = next().filter(kept -> away == null || away.id != kept.id());
            }
        } catch (DataAccessException | TransactionException e) {
            LOG.warn("restores wait for the database: {}", e.getMessage());
        } catch (RuntimeException e) {
            // NB: the executor would never call again.
            LOG.error("restores wait: {}", Failure.reason(e, "tried again in %d s".formatted(LOOK_SECONDS)), e);
        }
    }

    private Optional<KeptRestore> next() {
        if (!isHere()) {
            return Optional.empty();
        }
        Optional<KeptRestore> next = restores.next();
        return next.isEmpty() || (next.get().drill() && next.get().state() == RestoreState.WAITING)
                ? ofBatch().or(() -> next)
                : next;
    }

    private boolean isHere() {
        return active.isHere() && !leaving;
    }

    /** Requests the restore whose turn it is in a batch, if no other one waits. What cannot be requested is skipped. */
    private Optional<KeptRestore> ofBatch() {
        Optional<Due> due = turns.due();
        while (due.isPresent() && isHere()) {
            Optional<KeptRestore> requested = requested(due.get());
            if (requested.isPresent()) {
                return requested;
            }
            due = turns.due();
        }
        return Optional.empty();
    }

    /** Empty: it was refused. */
    private synchronized Optional<KeptRestore> requested(Due due) {
        try {
            Experiment experiment = experiments.find(due.experiment()).orElseThrow();
            Manifest manifest = Optional.ofNullable(due.manifest())
                    .flatMap(number -> manifests.find(experiment.id(), number))
                    .orElseThrow(() ->
                            new Refusal("manifest", "%s has no manifest: it was never backed up", due.experiment()));
            Site site = sites.findEvenRemoved(due.site()).orElseThrow();
            Target target = switch (due.target()) {
                case BatchTarget.Below(Path folder) ->
                    folder(experiment, manifest, Selection.ALL, site, folder.resolve(BatchTarget.name(experiment)));
                case BatchTarget.Sources _ -> source(experiment, manifest, Selection.ALL, site);
                case Target.Archive archive -> archive;
            };
            return Optional.of(turns.request(due, experiment, manifest, site, target));
        } catch (Refusal refused) {
            LOG.warn("batch {}: {} is not restored: {}", due.batch(), due.experiment(), refused.getMessage());
            turns.refuse(due, String.valueOf(refused.getMessage()));
            return Optional.empty();
        }
    }

    private void work(KeptRestore kept) {
        if (kept.drill() && kept.state() == RestoreState.RUNNING) {
            breakOff(kept);
            return;
        }
        Experiment experiment = experiments.find(kept.experiment()).orElseThrow();
        Manifest manifest = manifests.find(experiment.id(), kept.manifest()).orElseThrow();
        Site site = sites.findEvenRemoved(kept.site()).orElseThrow();
        try (Copy copy = copy(kept, manifest, site)) {
            BegunRestore now = new BegunRestore(kept, copy);
            synchronized (this) {
                if (leaving || !restores.begin(kept.id())) {
                    return;
                }
                restores.began(now);
            }
            LOG.info("restore {} of {}#{} begins", kept.id(), kept.experiment(), kept.manifest());
            Optional<End> end;
            try {
                end = brought(kept, experiment, now);
                now.ended = end.isPresent();
            } finally {
                synchronized (this) {
                    now.over = true;
                    // The interrupt was meant for the restore, not for recording its result.
                    Thread.interrupted();
                }
            }
            if (end.isPresent()) {
                End how = end.get();
                now.nothingAside = isNothingAside(kept);
                restores.end(kept.id(), how.state, how.message, how.progress, now);
                LOG.info("restore {} ended: {} {}", kept.id(), how.state, how.message);
            } else if (now.putBack) {
                restores.putBack(kept.id());
                LOG.info("drill {} waits until a person's restore has ended", kept.id());
            }
        }
    }

    /** Ends a drill that no process works on: its process ended. A time with a gap in it would be no evidence. */
    private void breakOff(KeptRestore drill) {
        removed(drill);
        restores.end(drill.id(), RestoreState.BROKEN_OFF, "", NONE, null);
        LOG.info("drill {} of {} was broken off by the end of its process", drill.id(), drill.experiment());
    }

    /** Runs a restore. Empty: it has not ended, and a later process continues it. */
    private Optional<End> brought(KeptRestore kept, Experiment experiment, BegunRestore now) {
        try {
            Progress progress = switch (now.copy) {
                case Restore restore -> bring(restore, kept, experiment, now);
                case Copy archive -> archive.run(now::add);
            };
            RestoreState state = progress.complete() && now.found == 0 ? RestoreState.COMPLETE : RestoreState.FINDINGS;
            return Optional.of(new End(state, "", progress));
        } catch (InterruptedException | IOException | RuntimeException e) {
            // NB: an interrupt may end any wait with an exception, also one for the database.
            if (now.stopped) {
                return Optional.of(new End(RestoreState.STOPPED, "", now.copy.progress()));
            }
            if (leaving || now.putBack) {
                return Optional.empty();
            }
            if (e instanceof RuntimeException lost && LostDatabase.isBehind(lost)) {
                // It may be back soon; the files in the folder are kept.
                throw lost;
            }
            if (isTriedAgain(kept, now, e)) {
                return Optional.empty();
            }
            return Optional.of(new End(RestoreState.FAILED, reason(kept, e), now.copy.progress()));
        }
    }

    /**
     * Returns whether a restore waits for its site, which has answered before and is lost now. Its message says so; the
     * next look goes on with it.
     */
    private boolean isTriedAgain(KeptRestore kept, BegunRestore now, Exception e) {
        RemoteException lost = Failure.cause(e, RemoteException.class);
        boolean brought = now.hasBrought();
        boolean answered = brought || kept.state() == RestoreState.RUNNING || batches.has(kept.id());
        if (kept.drill()
                || lost == null
                || !(lost.reason() == Reason.LOST || (answered && lost.reason() == Reason.UNREACHABLE))) {
            return false;
        }
        Away since = away;
        // What has brought content was back, and is lost anew.
        if (since == null || since.id != kept.id() || brought) {
            since = new Away(kept.id(), System.nanoTime());
            away = since;
            LOG.warn("restore {} waits for its site: {}", kept.id(), lost.getMessage());
            restores.waits(kept.id(), String.valueOf(lost.getMessage()));
        }
        return System.nanoTime() - since.sinceNanos < TimeUnit.SECONDS.toNanos(AWAY_SECONDS_MAX);
    }

    private Progress bring(Restore restore, KeptRestore kept, Experiment experiment, BegunRestore now)
            throws IOException, InterruptedException {
        return switch (kept.target()) {
            case Target.Folder filled -> bring(restore, filled.folder(), kept, now);
            case Target.Scratch scratch -> rehearse(restore, scratch.folder(), kept, now);
            case Target.InPlace(Path source, Path aside) ->
                bringInPlace(restore, source, requireNonNull(aside), kept, experiment, now);
            case Target.Archive _ -> throw new IllegalStateException("an archive is no folder");
        };
    }

    private static Progress rehearse(Restore restore, Path target, KeptRestore drill, BegunRestore now)
            throws IOException, InterruptedException {
        Path made = TargetFolder.makeScratch(target);
        try (OpenFolder folder = OpenFolder.open(made)) {
            try {
                long began = System.nanoTime();
                Progress progress = restore.run(folder, now::add);
                Long firstByteAt = restore.firstByteAt();
                now.took = new Took(
                        seconds(System.nanoTime() - began), firstByteAt == null ? null : seconds(firstByteAt - began));
                return progress;
            } catch (IOException e) {
                throw TargetFolder.named(e, folder, target);
            }
        } finally {
            removed(drill);
        }
    }

    private static double seconds(long nanos) {
        return nanos / (double) TimeUnit.SECONDS.toNanos(1);
    }

    /** Removes what a drill has restored. If that fails, the drill's result still counts. */
    private static void removed(KeptRestore drill) {
        try {
            TargetFolder.remove(FilePath.pathOf(requireNonNull(drill.folderBytes())));
        } catch (IOException | UncheckedIOException e) {
            LOG.warn("the scratch folder of drill {} could not be removed; remove it: {}", drill.id(), e.toString());
        }
    }

    /** Removes temporary files of a restore in place that has ended. Returns whether it put nothing aside. */
    private static boolean isNothingAside(KeptRestore kept) {
        Path aside = kept.target() instanceof Target.InPlace place ? place.aside() : null;
        try {
            return aside != null && TargetFolder.removedAside(aside);
        } catch (IOException e) {
            LOG.warn("restore {}: temporary files could not be removed; remove them: {}", kept.id(), e.toString());
            return false;
        }
    }

    private Progress bringInPlace(
            Restore restore, Path target, Path aside, KeptRestore kept, Experiment experiment, BegunRestore now)
            throws IOException, InterruptedException {
        if (!HomePlaces.source(experiment).equals(target)) {
            throw new Refusal(
                    "inPlace", "%s is no longer the source of %s", TargetFolder.shown(target), kept.experiment());
        }
        checkStillThere(aside, kept);
        try (OpenFolder folder = TargetFolder.openedAside(aside);
                OpenFolder source = TargetFolder.opened(target)) {
            try {
                return restore.runInPlace(source, folder, now::add);
            } catch (IOException e) {
                throw TargetFolder.named(TargetFolder.named(e, folder, aside), source, target);
            }
        }
    }

    private void checkStillThere(Path folder, KeptRestore kept) {
        if (!places.find(kept.project(), folder).equals(folder)) {
            throw new Refusal("folder", "%s now leads through a link to another folder", TargetFolder.shown(folder));
        }
    }

    private Progress bring(Restore restore, Path target, KeptRestore kept, BegunRestore now)
            throws IOException, InterruptedException {
        checkStillThere(target, kept);
        try (OpenFolder folder = TargetFolder.opened(target)) {
            try {
                Optional<Refusal> unfit = TargetFolder.unfit(restore, target, folder.path(), kept.startedAt() != null);
                if (unfit.isPresent()) {
                    throw unfit.get();
                }
                return restore.run(folder, now::add);
            } catch (IOException e) {
                throw TargetFolder.named(e, folder, target);
            }
        }
    }

    /** NB: without a request to the site or an archive: that may fail, which must end only this restore. */
    private Copy copy(KeptRestore kept, Manifest manifest, Site site) {
        String experiment = kept.experiment();
        Selection selection = kept.selection();
        return switch (kept.target()) {
            case Target.Folder filled -> restore(experiment, manifest, selection, site, filled.folder(), false);
            case Target.Scratch scratch -> restore(experiment, manifest, selection, site, scratch.folder(), false);
            case Target.InPlace place -> restore(experiment, manifest, selection, site, place.source(), true);
            case Target.Archive archive ->
                archives()
                        .restore(
                                archive,
                                part(experiment, manifest, selection, site),
                                new ProvenRead(lanes.to(site, 1)));
        };
    }

    private ManifestPart part(String experiment, Manifest manifest, Selection selection, Site site) {
        return new ManifestPart(inventories.of(manifest, site.id()), experiment, manifest.number(), selection);
    }

    private Restore restore(
            String experiment, Manifest manifest, Selection selection, Site site, Path target, boolean inPlace) {
        Options options = new Options(0, 0, false).checked(lanes.check());
        return new Restore(
                inventories.of(manifest, site.id()),
                experiment,
                manifest.number(),
                selection,
                site.address(),
                target,
                inPlace ? options.withOwners() : options);
    }

    private static String reason(KeptRestore kept, Exception e) {
        Refusal refusal = Failure.cause(e, Refusal.class);
        Throwable named = refusal == null ? Failure.cause(e, IOException.class) : refusal;
        if (named != null) {
            return String.valueOf(named.getMessage()).replace("\0", "\\0");
        }
        LOG.error("restore {} failed", kept.id(), e);
        return Failure.reason(e, "the same restore into the same folder fetches the rest");
    }
}
