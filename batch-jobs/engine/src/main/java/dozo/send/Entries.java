package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes.Work;
import dozo.remote.RemoteException;
import dozo.send.Arrival.Arrived;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Works on single entries at a site: a problem of one entry alone is an outcome. Gives verified entries their names. */
record Entries(Engine engine) {

    /** How often an entry is sent if its digest is wrong or it changes meanwhile. */
    static final int TRIES = 3;

    /** An entry of a bag. */
    private record Placed(Route route, Entry entry) {}

    /**
     * Returns whether sending again may help: after a wrong digest, or after a change of the source file. Other
     * failures stay.
     */
    static boolean worthAnotherTry(@Nullable Outcome outcome) {
        return outcome instanceof Failed failed
                && (failed.problem() == Problem.MISMATCHED || failed.problem() == Problem.CHANGED);
    }

    boolean canHaveName(Route route, Entry entry) throws RemoteException, InterruptedException {
        return route.finalName(entry).isUtf8() || engine.site().namesAreBytes();
    }

    /** Works on an entry. A problem of this entry alone is a result. */
    <T> T with(Route route, Entry entry, Function<Failed, T> failure, Work<T, SourceProblem> work)
            throws RemoteException, InterruptedException {
        if (!canHaveName(route, entry)) {
            return failure.apply(new Failed(
                    entry,
                    Problem.SITE_REFUSED,
                    entry.path() + ": the site cannot store names that are not UTF-8; use an OpenSSH server there"));
        }
        try {
            return engine.lanes().over(work);
        } catch (SourceProblem e) {
            return failure.apply(e.failed(entry));
        } catch (RemoteException e) {
            return switch (e.reason()) {
                case NO_SUCH_FILE, EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED ->
                    failure.apply(new Failed(
                            entry,
                            Problem.SITE_REFUSED,
                            "%s: refused by the site: %s".formatted(entry.path(), e.getMessage())));
                case STUCK ->
                    failure.apply(new Failed(
                            entry,
                            Problem.UNPROVEN,
                            "%s: the site returned no digest: %s".formatted(entry.path(), e.getMessage())));
                case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, READ_ONLY, FULL, PROTOCOL -> throw e;
            };
        }
    }

    /** Gives a verified file its final name, mode and time. */
    Outcome publish(Route route, Arrived proven, Earlier earlier) throws RemoteException, InterruptedException {
        Entry file = proven.file();
        SiteFacts facts = SiteFacts.of(file);
        return outcome(route, file, lane -> {
            FilePath finalName = route.finalName(file);
            if (!proven.lies().equals(finalName)) {
                boolean shared = earlier.mayBeShared(file);
                var _ = engine.tree().publish(lane, route, proven.lies(), finalName, proven.digest(), facts, shared);
            } else if (proven.mode() != facts.mode()) {
                facts.set(lane, finalName);
            }
            return proven.verified();
        });
    }

    /** Creates a folder or a link, and checks the link. */
    Outcome makeOther(Route route, Entry entry) throws RemoteException, InterruptedException {
        return outcome(route, entry, lane -> {
            FilePath name = route.finalName(entry);
            byte[] sealed = entry.facts().linkTarget();
            if (sealed == null) {
                engine.tree().makeFolders(lane, route, name);
                return new Verified(entry, Digest.OF_NOTHING);
            }
            byte[] target = route.names().ofLink(sealed);
            engine.tree().link(lane, route, target, route.temporaryName(entry), name);
            byte[] found = lane.sftp().readlink(name);
            return Arrays.equals(found, target)
                    ? new Verified(entry, Digest.ofContent(target))
                    : new Failed(entry, Problem.MISMATCHED, entry.path() + ": the link at the site has another target");
        });
    }

    /** Sets the modes and times of folders to those at the source. Returns the failures by bag. */
    Map<Route, List<Failed>> setFolderFacts(Map<Route, List<Entry>> folders)
            throws RemoteException, InterruptedException {
        List<Placed> all = folders.entrySet().stream()
                .flatMap(bag -> bag.getValue().stream().map(folder -> new Placed(bag.getKey(), folder)))
                .toList();
        Map<Placed, Outcome> outcomes = engine.workers()
                .each(
                        all,
                        placed -> outcome(placed.route, placed.entry, lane -> {
                            SiteFacts.of(placed.entry).set(lane, placed.route.finalName(placed.entry));
                            return new Verified(placed.entry, Digest.OF_NOTHING);
                        }));
        Map<Route, List<Failed>> failures = new HashMap<>();
        for (Placed placed : all) {
            if (outcomes.get(placed) instanceof Failed failed) {
                failures.computeIfAbsent(placed.route, _ -> new ArrayList<>()).add(failed);
            }
        }
        return failures;
    }

    private Outcome outcome(Route route, Entry entry, Work<Outcome, SourceProblem> work)
            throws RemoteException, InterruptedException {
        return with(route, entry, failed -> failed, work);
    }
}
