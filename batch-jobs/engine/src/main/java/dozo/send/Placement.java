package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFile;
import dozo.remote.Sftp.Part;
import dozo.send.Sender.Placing;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.security.DigestInputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Writes files that Dozo generates, verifies them, and gives them their names. */
record Placement(Engine engine) {

    private static final int TRANSFER_BYTES = 64 << 10;

    private record Written(Digest digest, long bytes) {}

    /** Puts generated files into bags, see {@link Sender#place}. */
    Map<FilePath, FilePath> place(List<Placing> files) throws RemoteException, InterruptedException {
        Map<Placing, Digest> digests = bring(files);
        Map<Route, List<Placing>> bags =
                files.stream().collect(Collectors.groupingBy(Placing::route, LinkedHashMap::new, Collectors.toList()));
        Map<FilePath, FilePath> aside = new ConcurrentHashMap<>();
        engine.workers().each(bags.keySet(), bag -> {
            for (Placing file : requireNonNull(bags.get(bag))) {
                Digest digest = requireNonNull(digests.get(file));
                engine.lanes()
                        .doOver(lane -> engine.tree()
                                .publish(lane, bag, file.temporary(), file.finalName(), digest, null, false)
                                .ifPresent(place -> aside.put(file.finalName(), place)));
            }
            return bag;
        });
        return aside;
    }

    /**
     * Writes files at the site under their temporary names. Returns their digests, which are equal to those computed
     * there.
     */
    private Map<Placing, Digest> bring(List<Placing> files) throws RemoteException, InterruptedException {
        Map<Placing, Written> written = engine.workers()
                .each(
                        files,
                        file -> engine.lanes().over(lane -> {
                            engine.tree()
                                    .makeFolders(
                                            lane, file.route(), file.route().incoming());
                            return write(lane, file);
                        }));
        long bytes = written.values().stream().mapToLong(Written::bytes).sum();
        Prover.Said found =
                engine.prover().digests(files.stream().map(Placing::temporary).toList(), bytes);
        Map<Placing, Digest> digests = new HashMap<>();
        List<Placing> again = new ArrayList<>();
        for (Placing file : files) {
            Digest sent = requireNonNull(written.get(file)).digest;
            digests.put(file, sent);
            if (!file.standing().isEmpty() && !Objects.equals(sent, found.of(file.temporary()))) {
                // The existing file did not contain the expected parts.
                again.add(file.whole());
            } else {
                checkWritten(file, sent, found);
            }
        }
        if (!again.isEmpty()) {
            bring(again);
        }
        return digests;
    }

    private static void checkWritten(Placing file, Digest sent, Prover.Said said) throws RemoteException {
        Digest found = said.of(file.temporary());
        if (found == null) {
            throw new RemoteException(
                    Reason.REFUSED, "the site returned no digest for %s%s".formatted(file.finalName(), said.why()));
        }
        if (!found.equals(sent)) {
            throw new RemoteException(
                    Reason.REFUSED,
                    "%s: checksum mismatch: digest %s at the site, expected %s"
                            .formatted(file.finalName(), found, sent));
        }
    }

    private Written write(Lane lane, Placing file) throws RemoteException, InterruptedException {
        if (!file.standing().isEmpty() && lane.sftp().copiesData()) {
            try {
                return write(lane, file, file.standing());
            } catch (RemoteException e) {
                if (!e.isRefusal()) {
                    throw e;
                }
            }
        }
        return write(lane, file, List.of());
    }

    private Written write(Lane lane, Placing file, List<Part> standing) throws RemoteException, InterruptedException {
        try (RemoteFile remote = SiteTree.create(lane, file.temporary());
                InputStream content = file.content().read();
                DigestInputStream in = new DigestInputStream(content, Digest.algorithm());
                RemoteOutput out = new RemoteOutput(remote)) {
            if (!standing.isEmpty()) {
                lane.sftp().copy(file.finalName(), standing, remote);
            }
            long at = 0;
            for (Part part : standing) {
                transfer(in, part.at() - at, out);
                transfer(in, part.length(), OutputStream.nullOutputStream());
                out.pass(part.length());
                at = part.at() + part.length();
            }
            in.transferTo(out);
            remote.finish(!engine.site().syncsAtOnce());
            return new Written(Digest.of(in.getMessageDigest().digest()), out.length());
        } catch (RemoteException e) {
            throw e;
        } catch (IOException e) {
            // A failure of the content: our own memory or disk.
            throw new UncheckedIOException(e);
        }
    }

    private static void transfer(InputStream in, long bytes, OutputStream out) throws IOException {
        byte[] buffer = new byte[(int) Math.min(bytes, TRANSFER_BYTES)];
        for (long left = bytes; left > 0; ) {
            int read = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (read < 0) {
                throw new EOFException("the content is shorter than its parts");
            }
            out.write(buffer, 0, read);
            left -= read;
        }
    }
}
