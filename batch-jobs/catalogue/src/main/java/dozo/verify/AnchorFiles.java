package dozo.verify;

import dozo.file.FilePath;
import dozo.ledger.Anchor;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.send.Crew;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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
                    batches.take(Crew.each(names, this::read));
                    names.clear();
                }
            });
        } catch (RemoteException e) {
            if (e.reason() != Reason.NO_SUCH_FILE) {
                throw e;
            }
        }
        batches.take(Crew.each(names, this::read));
    }

    /** Returns those of these rows that have no anchor file there. */
    List<Long> missing(List<Long> seqs) throws IOException, InterruptedException {
        List<Long> missing = new ArrayList<>();
        for (int i = 0; i < seqs.size(); i += AT_ONCE) {
            List<Long> some = seqs.subList(i, Math.min(seqs.size(), i + AT_ONCE));
            List<Optional<RemoteFacts>> there =
                    Crew.each(some, seq -> lane.sftp().lstat(Anchor.file(seq)));
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
}
