package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Optional;

/**
 * Sends one large file over all lanes at once. It is read once, in order, and digested meanwhile; each block goes to
 * the channel with the most room, so a slow lane does not delay the others.
 *
 * <p>A temporary file of an earlier attempt is reused as far as it is verified: the site digests each complete range of
 * it, and ranges with the source's digest are not sent again. A restart therefore reads what was sent a second time, on
 * both sides, and needs no stored state (ADR 0014).
 */
final class LargeFile {

    /** The size of a range, which is verified and kept as one after a failure. */
    static final long RANGE_BYTES = 64 << 20;

    private final Engine engine;
    private final SourceContent content;
    private final Route route;
    private final Entry entry;
    private final boolean holes;
    private final MessageDigest whole = Digest.algorithm();

    /**
     * @param holes whether zeros are left out. Before the first unverified range the file is truncated there, because a
     *     hole needs a place without data
     */
    LargeFile(Engine engine, SourceContent content, Route route, Entry entry, boolean holes) {
        this.engine = engine;
        this.content = content;
        this.route = route;
        this.entry = entry;
        this.holes = holes;
    }

    /**
     * Sends all bytes to the temporary name, with the file's mode and time.
     *
     * @return the source's digest
     */
    Digest send(SourceFile source) throws SourceProblem, RemoteException, InterruptedException {
        FilePath temporary = route.temporaryName(entry);
        long size = entry.facts().sizeBytes();
        Map<Integer, Digest> there = rangesThere(temporary);
        try (Stripes stripes = new Stripes(engine.lanes(), temporary, there.isEmpty())) {
            for (long at = 0; at < size; at += RANGE_BYTES) {
                long length = Math.min(RANGE_BYTES, size - at);
                Digest proven = there.get((int) (at / RANGE_BYTES));
                if (proven != null && proven.equals(read(source, at, length))) {
                    continue;
                }
                if (holes && !there.isEmpty()) {
                    // NB: nothing is in flight yet, because all ranges before were verified; truncating removes old
                    // data where a hole is to be.
                    engine.lanes().next().sftp().cutOff(temporary, at);
                    there = Map.of();
                }
                content.send(
                        source, at, length, holes, () -> stripes.next().file(), proven == null ? whole : null);
            }
            source.checkUnchanged();
            stripes.finish(!engine.site().syncsAtOnce());
        }
        SiteFacts facts = SiteFacts.of(entry);
        if (holes) {
            engine.lanes().next().sftp().setFacts(temporary, size, facts.mode(), facts.modifiedSeconds());
        } else {
            engine.lanes().next().sftp().setFacts(temporary, facts.mode(), facts.modifiedSeconds());
        }
        return Digest.of(whole.digest());
    }

    /** Returns the digests of the complete ranges of an earlier attempt; removes anything else with this name. */
    private Map<Integer, Digest> rangesThere(FilePath temporary) throws RemoteException, InterruptedException {
        Lane lane = engine.lanes().next();
        Optional<RemoteFacts> left = lane.sftp().lstat(temporary);
        if (left.isEmpty()) {
            return Map.of();
        }
        long sizeBytes = left.get().sizeBytes();
        if (left.get().kind() == Kind.FILE && sizeBytes <= entry.facts().sizeBytes()) {
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
    private Digest read(SourceFile source, long offset, long length) throws SourceProblem, InterruptedException {
        MessageDigest range = Digest.algorithm();
        source.read(offset, length, bytes -> {
            try (Stay _ = engine.gauges().digesting.enter()) {
                whole.update(bytes.array(), 0, bytes.limit());
                range.update(bytes.array(), 0, bytes.limit());
            }
        });
        return Digest.of(range.digest());
    }
}
