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
        Content send(boolean holes) throws SourceProblem, RemoteException, InterruptedException;
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

    /** Returns the content of a source's file; reads it only if the source does not know its digest. */
    Content read(Route route, SourceFile source) throws SourceProblem, InterruptedException {
        Optional<Digest> known = route.source().known(source.entry());
        if (known.isPresent()) {
            return new Content(known.get());
        }
        ContentDigest read = new ContentDigest(engine, source.entry());
        source.read(0, source.entry().facts().sizeBytes(), read::update);
        source.checkUnchanged();
        return read.content();
    }

    /** Sends with holes if wanted. If the site refuses that, sends without, and never tries holes again. */
    Content withHoles(boolean wanted, Sending sending) throws SourceProblem, RemoteException, InterruptedException {
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
        Content sent = sending.send(false);
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
