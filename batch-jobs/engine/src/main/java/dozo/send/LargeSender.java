package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.send.Arrival.Arrived;
import dozo.send.Arrival.Missing;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Sends large files, each over all lanes, and gives them their names after they are verified. */
record LargeSender(Engine engine, Entries entries, SourceContent content) {

    Outcome send(Route route, Entry file, Earlier earlier) throws RemoteException, InterruptedException {
        Outcome outcome = attempt(route, file, earlier, true);
        for (int i = 1; i < Entries.TRIES && Entries.worthAnotherTry(outcome); i++) {
            // Perhaps the holes did not read as zeros.
            outcome = attempt(route, file, earlier, false);
        }
        return withoutRemains(route, outcome);
    }

    /**
     * Removes the temporary file of a large file that no further attempt can continue: the site refuses its name, or
     * its content is not the wanted one. Temporary files of small files are never continued; the sweep removes them.
     */
    private Outcome withoutRemains(Route route, Outcome outcome) throws RemoteException, InterruptedException {
        if (!(outcome instanceof Failed(Entry file, Problem problem, String message, var _))
                || !Set.of(Problem.SITE_REFUSED, Problem.SOURCE_DIFFERS, Problem.CHANGED)
                        .contains(problem)) {
            return outcome;
        }
        FilePath temporary = route.temporaryName(file);
        try {
            engine.lanes().doOver(lane -> SiteTree.removeIfThere(lane, temporary));
            return outcome;
        } catch (RemoteException e) {
            if (e.retryable()) {
                throw e;
            }
            return new Failed(
                    file,
                    problem,
                    "%s; temporary file %s could not be removed at the site: %s"
                            .formatted(message, temporary, e.getMessage()));
        }
    }

    private Outcome attempt(Route route, Entry file, Earlier earlier, boolean holes)
            throws RemoteException, InterruptedException {
        Arrival arrival;
        try (Stay _ = engine.gauges().sending.enter();
                Stay _ = engine.gauges().files.enter()) {
            arrival = earlier.check(
                    route, entries.with(route, file, Missing::new, lane -> arrive(lane, route, file, earlier, holes)));
        }
        Outcome proven = requireNonNull(engine.prover().prove(List.of(arrival)).get(file));
        return arrival instanceof Arrived arrived && proven instanceof Verified
                ? publishSynced(route, arrived, earlier)
                : proven;
    }

    /** Sends a large file under its temporary name, or finds it with this content under its final name. */
    private Arrival arrive(Lane lane, Route route, Entry file, Earlier earlier, boolean mayLeaveHoles)
            throws RemoteException, InterruptedException, SourceProblem {
        FilePath finalName = route.finalName(file);
        // NB: the mode of a file with other names must not be changed.
        Optional<RemoteFacts> there = engine.tree()
                .standing(lane, finalName, file)
                .filter(stored ->
                        !earlier.mayBeShared(file) || SiteFacts.of(file).areOf(stored));
        if (there.isPresent()) {
            try (SourceFile source = content.open(route, file, null)) {
                Digest digest = SourceContent.digest(route, source);
                if (engine.tree().hasContent(lane, finalName, there.get(), digest)) {
                    return new Arrived(file, digest, finalName, there.get().mode());
                }
            }
        }
        engine.tree().makeFolders(lane, route, route.incoming());
        try (SourceFile source = content.open(route, file, null)) {
            Digest sent = content.withHoles(
                    mayLeaveHoles && source.isSparse(),
                    holes -> new LargeFile(engine, content, route, file, holes).send(source));
            return new Arrived(
                    file, sent, route.temporaryName(file), SiteFacts.of(file).mode());
        }
    }

    private Outcome publishSynced(Route route, Arrived proven, Earlier earlier)
            throws RemoteException, InterruptedException {
        try (Stay _ = engine.gauges().naming.enter()) {
            Outcome outcome = entries.publish(route, proven, earlier);
            engine.prover().syncAll();
            return outcome;
        }
    }
}
