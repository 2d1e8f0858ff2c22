package dozo.verify;

import dozo.file.FilePath;
import dozo.ledger.Anchor;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Reads the anchor files at a site, a few dozen at a time, so that their number does not matter for memory. */
final class AnchorFiles {

    private static final int AT_ONCE = 64;

    private final Lane lane;

    /**
     * A file in the folder of the anchors.
     *
     * @param file its name
     * @param anchor its content; empty: it is not the anchor that its name announces
     */
    record AnchorFile(FilePath file, Optional<Anchor> anchor) {}

    /** Receives some of the files. */
    interface Batches {
        void take(List<AnchorFile> files);
    }

    private interface Work<A, B> {
        B of(A from) throws IOException, InterruptedException;
    }

    AnchorFiles(Lane lane) {
        this.lane = lane;
    }

    /** Reads all files there, in the site's order. */
    void read(Batches batches) throws IOException, InterruptedException {
        List<FilePath> names = new ArrayList<>();
        try {
            lane.sftp().list(Anchor.FOLDER, (file, facts) -> {
                names.add(file);
                if (names.size() == AT_ONCE) {
                    batches.take(atOnce(names, this::read));
                    names.clear();
                }
            });
        } catch (RemoteException e) {
            if (e.reason() != Reason.NO_SUCH_FILE) {
                throw e;
            }
        }
        batches.take(atOnce(names, this::read));
    }

    /** Returns those of these rows that have no anchor file there. */
    List<Long> missing(List<Long> seqs) throws IOException, InterruptedException {
        List<Long> missing = new ArrayList<>();
        for (int i = 0; i < seqs.size(); i += AT_ONCE) {
            List<Long> some = seqs.subList(i, Math.min(seqs.size(), i + AT_ONCE));
            List<Optional<RemoteFacts>> there = atOnce(some, seq -> lane.sftp().lstat(Anchor.file(seq)));
            for (int k = 0; k < some.size(); k++) {
                if (there.get(k).isEmpty()) {
                    missing.add(some.get(k));
                }
            }
        }
        return missing;
    }

    private AnchorFile read(FilePath file) throws IOException, InterruptedException {
        Optional<Long> seq = Anchor.seq(file);
        if (seq.isEmpty()) {
            return new AnchorFile(file, Optional.empty());
        }
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        try {
            lane.sftp().read(file, 0, Anchor.LINE_BYTES_MAX, content::write);
        } catch (RemoteException e) {
            if (e.retryable() || e.reason() == Reason.PROTOCOL) {
                throw e;
            }
            return new AnchorFile(file, Optional.empty());
        }
        return new AnchorFile(
                file,
                Anchor.of(content.toByteArray()).filter(anchor -> seq.get().equals(anchor.seq())));
    }

    private static <A, B> List<B> atOnce(List<A> all, Work<A, B> work) throws IOException, InterruptedException {
        List<B> results = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                List<Future<B>> running = new ArrayList<>();
                for (A one : all) {
                    running.add(threads.submit(() -> work.of(one)));
                }
                for (Future<B> one : running) {
                    results.add(RemoteException.join(one));
                }
            } finally {
                threads.shutdownNow();
            }
        }
        return results;
    }
}
