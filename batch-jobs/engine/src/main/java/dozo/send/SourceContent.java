package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFile;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** Reads files of a source, and sends their content block by block. Remembers whether the site accepts holes. */
final class SourceContent {

    private final Engine engine;

    /** Set after the site has refused to create holes in a file. */
    private volatile boolean holesRefused;

    interface Sending {
        Digest send(boolean holes) throws SourceProblem, RemoteException, InterruptedException;
    }

    /** Chooses where the next block is written. */
    interface Target {
        RemoteFile next() throws RemoteException, InterruptedException;
    }

    SourceContent(Engine engine) {
        this.engine = engine;
    }

    /** Opens a file, see {@link SourceFile#open}. */
    SourceFile open(Route route, Entry file, @Nullable Semaphore permits) throws SourceProblem, InterruptedException {
        return SourceFile.open(route.source(), file, engine.gauges().reading, engine.patience(), permits);
    }

    /** Returns the digest of a source's file; reads it only if the source does not know it. */
    static Digest digest(Route route, SourceFile source) throws SourceProblem, InterruptedException {
        Optional<Digest> known = route.source().known(source.entry());
        return known.isPresent()
                ? known.get()
                : source.digest(source.entry().facts().sizeBytes());
    }

    /** Sends with holes if wanted. If the site refuses that, sends without, and never tries holes again. */
    Digest withHoles(boolean wanted, Sending sending) throws SourceProblem, RemoteException, InterruptedException {
        boolean holes = wanted && !holesRefused;
        try {
            return sending.send(holes);
        } catch (RemoteException e) {
            boolean refused = e.reason() == Reason.REFUSED
                    || e.reason() == Reason.UNSUPPORTED
                    || e.reason() == Reason.PERMISSION_DENIED;
            if (!holes || !refused) {
                throw e;
            }
        }
        Digest sent = sending.send(false);
        holesRefused = true;
        return sent;
    }

    /**
     * Sends a range of a file, as far as the file reaches. If it is shorter now, {@link SourceFile#checkUnchanged}
     * detects that.
     *
     * @param holes whether zeros are left out
     * @param read receives what is sent, and the zeros; null: it was read before
     */
    void send(SourceFile source, long offset, long length, boolean holes, Target target, @Nullable MessageDigest read)
            throws SourceProblem, RemoteException, InterruptedException {
        long end = offset + length;
        int n = 1;
        for (long at = offset; at < end && n > 0; at += n) {
            source.fetch(at);
            n = sendBlock(source, at, new Room(target.next(), end - at), holes, read);
        }
    }

    /** Sends the next block. Returns by how many bytes the position advances. */
    private int sendBlock(SourceFile source, long offset, Room room, boolean holes, @Nullable MessageDigest read)
            throws SourceProblem, RemoteException, InterruptedException {
        Kept kept;
        try {
            source.read(room, offset);
            kept = Kept.of(room.block(), holes, offset, all -> {
                if (read != null) {
                    try (Stay _ = engine.gauges().digesting.enter()) {
                        all.addTo(read);
                    }
                }
            });
            engine.throttle().pass(kept.written());
        } catch (SourceProblem | InterruptedException | RuntimeException e) {
            room.giveBack();
            throw e;
        }
        if (kept.written() == 0) {
            room.giveBack();
        } else {
            room.write(offset + kept.skipped());
            engine.gauges().bytesMoved.add(kept.written());
        }
        return kept.bytes();
    }
}
