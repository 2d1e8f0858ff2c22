package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.Arrival.Arrived;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import java.security.MessageDigest;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Sends one large file over all lanes at once. It is read once, in order, and digested meanwhile; each block goes to
 * the channel with the most room, so a slow lane does not delay the others.
 *
 * <p>A temporary file of an earlier attempt is reused as far as it is verified: the site digests each complete range of
 * it, and ranges with the source's digest are not sent again. A restart therefore reads what was sent a second time, on
 * both sides, and needs no stored state (ADR 0014). A source at a site computes the digests of its ranges there.
 */
record LargeFile(Engine engine, Entries entries, SourceContent content, Route route, Entry file, Earlier earlier) {

    /** The size of a range, which is verified and kept as one after a failure. */
    static final long RANGE_BYTES = 64 << 20;

    /** Sends, verifies and names it, in a few attempts if that may help. */
    Outcome send() throws RemoteException, InterruptedException {
        Outcome outcome = attempt(true);
        for (int i = 1; i < Entries.TRIES && Entries.worthAnotherTry(outcome); i++) {
            // Perhaps the holes did not read as zeros.
            outcome = attempt(false);
        }
        return withoutRemains(outcome);
    }

    /**
     * Removes the temporary file if no further attempt can continue: the site refuses its name, or
     * its content is not the wanted one. Temporary files of small files are never continued; the sweep removes them.
     */
    private Outcome withoutRemains(Outcome outcome) throws RemoteException, InterruptedException {
        if (!(outcome instanceof Failed(var _, Problem problem, String message, var _))
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

    private Outcome attempt(boolean holes) throws RemoteException, InterruptedException {
        Arrival arrival;
        try (Stay _ = engine.gauges().sending.enter();
                Stay _ = engine.gauges().files.enter()) {
            arrival = earlier.check(route, entries.with(route, file, failed -> failed, lane -> arrive(lane, holes)));
        }
        Outcome proven = requireNonNull(engine.prover().prove(List.of(arrival)).get(file));
        return arrival instanceof Arrived arrived && proven instanceof Verified ? publishSynced(arrived) : proven;
    }

    /** Sends it under its temporary name, or finds it with this content under its final name. */
    private Arrival arrive(Lane lane, boolean mayLeaveHoles)
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
            Digest sent = content.withHoles(mayLeaveHoles && source.isSparse(), holes -> sendContent(source, holes));
            return new Arrived(
                    file, sent, route.temporaryName(file), SiteFacts.of(file).mode());
        }
    }

    private Outcome publishSynced(Arrived proven) throws RemoteException, InterruptedException {
        try (Stay _ = engine.gauges().naming.enter()) {
            Outcome outcome = entries.publish(route, proven, earlier);
            engine.prover().syncAll();
            return outcome;
        }
    }

    /**
     * Sends all bytes to the temporary name, with the file's mode and time.
     *
     * @param holes whether zeros are left out. Before the first unverified range the file is truncated there, because a
     *     hole needs a place without data
     * @return the source's digest
     */
    private Digest sendContent(SourceFile source, boolean holes)
            throws SourceProblem, RemoteException, InterruptedException {
        MessageDigest whole = Digest.algorithm();
        FilePath temporary = route.temporaryName(file);
        long size = file.facts().sizeBytes();
        Map<Integer, Digest> there = rangesThere(temporary);
        Map<Integer, Digest> atSource =
                there.isEmpty() ? there : route.source().ranges(file, RANGE_BYTES, Collections.max(there.keySet()) + 1);
        boolean allRead = true;
        try (Stripes stripes = new Stripes(engine.lanes(), temporary, there.isEmpty())) {
            for (long at = 0; at < size; at += RANGE_BYTES) {
                long length = Math.min(RANGE_BYTES, size - at);
                Digest proven = there.get((int) (at / RANGE_BYTES));
                Digest known = atSource.get((int) (at / RANGE_BYTES));
                Digest read = proven == null || known != null ? null : read(source, at, length, whole);
                if (proven != null && Objects.equals(proven, known == null ? read : known)) {
                    allRead &= known == null;
                    continue;
                }
                if (holes && !there.isEmpty()) {
                    // NB: nothing is in flight yet, because all ranges before were verified; truncating removes old
                    // data where a hole is to be.
                    engine.lanes().next().sftp().cutOff(temporary, at);
                    there = Map.of();
                }
                content.send(source, at, length, holes, () -> stripes.next().file(), read == null ? whole : null);
            }
            source.checkUnchanged();
            stripes.finish(!engine.site().syncsAtOnce());
        }
        SiteFacts facts = SiteFacts.of(file);
        if (holes) {
            engine.lanes().next().sftp().setFacts(temporary, size, facts.mode(), facts.modifiedSeconds());
        } else {
            facts.set(engine.lanes().next(), temporary);
        }
        return allRead ? Digest.of(whole.digest()) : digestOfSource();
    }

    /** Returns the digest computed at the source's site, for a file of which not all ranges were read here. */
    private Digest digestOfSource() throws SourceProblem, InterruptedException {
        return route.source()
                .known(file)
                .orElseThrow(() ->
                        new SourceProblem(Problem.UNPROVEN, file.path() + ": the source's site returned no digest"));
    }

    /** Returns the digests of the complete ranges of an earlier attempt; removes anything else with this name. */
    private Map<Integer, Digest> rangesThere(FilePath temporary) throws RemoteException, InterruptedException {
        Lane lane = engine.lanes().next();
        Optional<RemoteFacts> left = lane.sftp().lstat(temporary);
        if (left.isEmpty()) {
            return Map.of();
        }
        long sizeBytes = left.get().sizeBytes();
        if (left.get().kind() == Kind.FILE && sizeBytes <= file.facts().sizeBytes()) {
            int count = Math.toIntExact(sizeBytes / RANGE_BYTES);
            Map<Integer, Digest> ranges =
                    count == 0 ? Map.of() : engine.site().digest().ranges(lane, temporary, RANGE_BYTES, count);
            if (!ranges.isEmpty()) {
                return ranges;
            }
        }
        lane.sftp().remove(temporary);
        return Map.of();
    }

    /** Reads a range without sending it. */
    private Digest read(SourceFile source, long offset, long length, MessageDigest whole)
            throws SourceProblem, InterruptedException {
        MessageDigest range = Digest.algorithm();
        source.read(offset, length, bytes -> {
            try (Stay _ = engine.gauges().digesting.enter()) {
                whole.update(bytes.duplicate());
                range.update(bytes);
            }
        });
        return Digest.of(range.digest());
    }
}
