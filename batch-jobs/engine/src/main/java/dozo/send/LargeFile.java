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
import dozo.remote.Sftp.Part;
import dozo.send.Arrival.Arrived;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import dozo.send.Stripes.Stripe;
import java.security.MessageDigest;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Sends one large file over all lanes at once. It is read once, in order, and digested meanwhile; each block goes to
 * the channel with the most room, so a slow lane does not delay the others.
 *
 * <p>A temporary file of an earlier attempt is reused as far as it is verified: the site digests each complete range of
 * it, and ranges with the source's digest are not sent again. A restart therefore reads what was sent a second time, on
 * both sides, and needs no stored state (ADR 0014). A source at a site computes the digests of its ranges there.
 *
 * <p>Of a changed file, the site copies the ranges that it has under the final name, and only the others are sent (ADR
 * 0107). What arrived is proven by its own digest, however it came.
 */
record LargeFile(Engine engine, Entries entries, SourceContent content, Route route, Entry file, Earlier earlier) {

    /** The size of a range, which is verified and kept as one after a failure. */
    static final long RANGE_BYTES = 64 << 20;

    /** The least that is compared with an earlier version at once: each range costs the site two processes. */
    static final long COMPARED_BYTES_MIN = 4 << 20;

    private static final int COMPARED_MAX = 1024;

    /** What one channel has the site copy from an earlier version. */
    private static final long COPIED_BYTES_MAX = 256 << 20;

    /**
     * Content of this file that the site may have, by digests of complete ranges.
     *
     * @param left of an earlier attempt, under the temporary name
     * @param earlier of another version, under the final name
     */
    private record There(long rangeBytes, Map<Integer, Digest> left, Map<Integer, Digest> earlier) {}

    /** Sends, verifies and names it, in a few attempts if that may help. */
    Outcome send() throws RemoteException, InterruptedException {
        Outcome outcome = attempt(true);
        for (int i = 1; i < Entries.TRIES && Entries.worthAnotherTry(outcome); i++) {
            // Perhaps the holes did not read as zeros, or the earlier version changed while it was copied.
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

    private Outcome attempt(boolean thrifty) throws RemoteException, InterruptedException {
        Arrival arrival;
        try (Stay _ = engine.gauges().sending.enter();
                Stay _ = engine.gauges().files.enter()) {
            arrival = earlier.check(route, entries.with(route, file, failed -> failed, lane -> arrive(lane, thrifty)));
        }
        Outcome proven = requireNonNull(engine.prover().prove(List.of(arrival)).get(file));
        return arrival instanceof Arrived arrived && proven instanceof Verified ? publishSynced(arrived) : proven;
    }

    /** Sends it under its temporary name, or finds it with this content under its final name. */
    private Arrival arrive(Lane lane, boolean thrifty) throws RemoteException, InterruptedException, SourceProblem {
        FilePath finalName = route.finalName(file);
        // NB: the mode of a file with other names must not be changed.
        Optional<RemoteFacts> there = engine.tree()
                .standing(lane, finalName, file)
                .filter(stored ->
                        !earlier.mayBeShared(file) || SiteFacts.of(file).areOf(stored));
        if (there.isPresent()) {
            try (SourceFile source = content.open(route, file, null)) {
                Content read = content.read(route, source);
                if (engine.tree().hasContent(lane, finalName, there.get(), read.digest())) {
                    return new Arrived(file, read, finalName, there.get().mode());
                }
            }
        }
        engine.tree().makeFolders(lane, route, route.incoming());
        try (SourceFile source = content.open(route, file, null)) {
            Content sent = content.withHoles(thrifty && source.isSparse(), holes -> send(source, holes, thrifty));
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

    /** Sends what the site does not have, or cannot copy, to the temporary name. */
    private Content send(SourceFile source, boolean holes, boolean thrifty)
            throws SourceProblem, RemoteException, InterruptedException {
        // NB: a copy has data where a hole may be.
        if (thrifty && !holes) {
            try {
                Optional<There> earlier = earlierVersion(source);
                if (earlier.isPresent()) {
                    return sendContent(source, false, earlier.get());
                }
            } catch (RemoteException e) {
                if (!e.isRefusal()) {
                    throw e;
                }
            }
        }
        return sendContent(source, holes, there(RANGE_BYTES, Map.of()));
    }

    /**
     * Sends all bytes to the temporary name, with the file's mode and time.
     *
     * @param holes whether zeros are left out. Before the first unverified range the file is truncated there, because a
     *     hole needs a place without data
     * @return the source's content
     */
    private Content sendContent(SourceFile source, boolean holes, There there)
            throws SourceProblem, RemoteException, InterruptedException {
        ContentDigest whole = new ContentDigest(engine, file);
        FilePath temporary = route.temporaryName(file);
        long size = file.facts().sizeBytes();
        Map<Integer, Digest> left = there.left;
        Map<Integer, Digest> atSource = left.isEmpty()
                ? Map.of()
                : route.source().ranges(file, there.rangeBytes, Collections.max(left.keySet()) + 1);
        boolean allRead = true;
        try (Stripes stripes = new Stripes(engine.lanes(), temporary, left.isEmpty())) {
            Part equal = null;
            for (long at = 0; at < size; at += there.rangeBytes) {
                long length = Math.min(there.rangeBytes, size - at);
                int number = (int) (at / there.rangeBytes);
                boolean compared = left.containsKey(number) || there.earlier.containsKey(number);
                Digest known = atSource.get(number);
                Digest read = compared && known == null ? read(source, at, length, whole) : null;
                Digest here = known == null ? read : known;
                if (compared && Objects.equals(here, left.get(number))) {
                    allRead &= known == null;
                    continue;
                }
                if (compared && Objects.equals(here, there.earlier.get(number))) {
                    equal = joined(stripes, equal, new Part(at, at, length));
                    continue;
                }
                if (holes && !left.isEmpty()) {
                    // NB: nothing is in flight yet, because all ranges before were verified; truncating removes old
                    // data where a hole is to be.
                    engine.lanes().next().sftp().cutOff(temporary, at);
                    left = Map.of();
                }
                content.send(source, at, length, holes, () -> stripes.next().file(), read == null ? whole : null);
            }
            copy(stripes, equal);
            source.checkUnchanged();
            stripes.finish(!engine.site().syncsAtOnce());
        }
        SiteFacts facts = SiteFacts.of(file);
        if (holes) {
            engine.lanes().next().sftp().setFacts(temporary, size, facts.mode(), facts.modifiedSeconds());
        } else {
            facts.set(engine.lanes().next(), temporary);
        }
        return allRead ? whole.content() : new Content(digestOfSource());
    }

    /** Returns the digest computed at the source's site, for a file of which not all ranges were read here. */
    private Digest digestOfSource() throws SourceProblem, InterruptedException {
        return route.source()
                .known(file)
                .orElseThrow(() ->
                        new SourceProblem(Problem.UNPROVEN, file.path() + ": the source's site returned no digest"));
    }

    /** Returns the second part, or both as one; has the site copy the first if they are not one. */
    private Part joined(Stripes stripes, @Nullable Part first, Part second)
            throws RemoteException, InterruptedException {
        if (first != null && first.at() + first.length() == second.at() && first.length() < COPIED_BYTES_MAX) {
            return new Part(first.at(), first.from(), first.length() + second.length());
        }
        copy(stripes, first);
        return second;
    }

    private void copy(Stripes stripes, @Nullable Part part) throws RemoteException, InterruptedException {
        if (part != null) {
            Stripe stripe = stripes.next();
            stripe.channel().copy(route.finalName(file), List.of(part), stripe.file());
        }
    }

    /** Returns what an earlier attempt left with this; removes anything else with the temporary name. */
    private There there(long rangeBytes, Map<Integer, Digest> earlier) throws RemoteException, InterruptedException {
        Lane lane = engine.lanes().next();
        FilePath temporary = route.temporaryName(file);
        Optional<RemoteFacts> stands = lane.sftp().lstat(temporary);
        Map<Integer, Digest> left = Map.of();
        if (stands.isPresent()) {
            long sizeBytes = stands.get().sizeBytes();
            if (stands.get().kind() == Kind.FILE && sizeBytes <= file.facts().sizeBytes()) {
                left = ranges(lane, temporary, rangeBytes, IntStream.range(0, (int) (sizeBytes / rangeBytes)));
            }
            if (left.isEmpty()) {
                lane.sftp().remove(temporary);
            }
        }
        return new There(rangeBytes, left, earlier);
    }

    /**
     * Returns what the site has, with what is there under the final name, if the site can copy that and it is like this
     * file: of its first, middle and last range, one has the source's content. A file that is compressed anew, or longer
     * at its begin, costs these three ranges.
     */
    private Optional<There> earlierVersion(SourceFile source)
            throws SourceProblem, RemoteException, InterruptedException {
        Lane lane = engine.lanes().next();
        long size = file.facts().sizeBytes();
        long rangeBytes = Math.max(COMPARED_BYTES_MIN, Math.ceilDiv(size, (long) COMPARED_MAX << 20) << 20);
        FilePath name = route.finalName(file);
        Optional<RemoteFacts> stands = lane.sftp().copiesData() ? lane.sftp().lstat(name) : Optional.empty();
        int count = stands.filter(facts -> facts.kind() == Kind.FILE)
                .map(facts -> (int) (Math.min(facts.sizeBytes(), size) / rangeBytes))
                .orElse(0);
        IntStream some = count == 0 ? IntStream.empty() : IntStream.of(0, count / 2, count - 1);
        for (Map.Entry<Integer, Digest> range :
                ranges(lane, name, rangeBytes, some).entrySet()) {
            if (range.getValue().equals(read(source, range.getKey() * rangeBytes, rangeBytes, null))) {
                return Optional.of(there(rangeBytes, ranges(lane, name, rangeBytes, IntStream.range(0, count))));
            }
        }
        return Optional.empty();
    }

    private Map<Integer, Digest> ranges(Lane lane, FilePath name, long rangeBytes, IntStream numbers)
            throws RemoteException, InterruptedException {
        List<Integer> asked = numbers.distinct().boxed().toList();
        return asked.isEmpty() ? Map.of() : engine.site().digest().ranges(lane, name, rangeBytes, asked);
    }

    /** Reads a range without sending it. */
    private Digest read(SourceFile source, long offset, long length, @Nullable MessageDigest whole)
            throws SourceProblem, InterruptedException {
        MessageDigest range = Digest.algorithm();
        source.read(offset, length, bytes -> {
            try (Stay _ = engine.gauges().digesting.enter()) {
                if (whole != null) {
                    whole.update(bytes.duplicate());
                }
                range.update(bytes);
            }
        });
        return Digest.of(range.digest());
    }
}
