package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * A method to compute SHA-256 digests of files at a site. {@link SiteCheck} finds out which of the three work there,
 * and which is fastest.
 */
public sealed interface RemoteDigest permits ExecDigest, CheckFileDigest, ReadBackDigest {

    /**
     * Returns the method as text for receipts: {@code "exec openssl dgst -sha256"}, {@code "check-file"}, {@code
     * "read-back"}.
     */
    String method();

    /**
     * Returns the digests of these files. A file without a digest, for whatever reason, is left out: it is not
     * verified.
     *
     * @param bytes the total size of these files, which limits how long a command may take ({@link Patience})
     * @throws RemoteException if the lane is lost or the method does not work at all; STUCK if a command did not end in
     *     time
     */
    Map<FilePath, Digest> digests(Lane lane, List<FilePath> files, long bytes)
            throws RemoteException, InterruptedException;

    /**
     * Returns the digests of complete ranges of a file by their numbers, of which the first is 0. Ranges without a digest
     * are left out. The result is empty if digests would cost as much as sending the ranges again.
     *
     * @param rangeBytes a multiple of 1 MiB
     */
    default Map<Integer, Digest> ranges(Lane lane, FilePath file, long rangeBytes, Collection<Integer> numbers)
            throws RemoteException, InterruptedException {
        return Map.of();
    }

    /**
     * Returns the site's answers to challenges. One without an answer, for whatever reason, is left out. If the site computes none,
     * the ranges are read over the lane.
     *
     * @throws RemoteException as for {@link #digests}; STUCK if the answers did not come in time
     */
    default Map<Challenge, Digest> answers(Lane lane, List<Challenge> challenges)
            throws RemoteException, InterruptedException {
        return Fanout.digests(challenges, challenge -> ReadBackDigest.answer(lane.sftp(), challenge));
    }

    /** Returns how a site answers challenges, as text for the evidence. */
    default String answering(Lane lane) {
        return "read-back";
    }

    /** Returns the same method with this patience for commands. */
    default RemoteDigest with(Patience patience) {
        return this;
    }

    /**
     * Returns the best method that does not write to the site. Each of its digests must be compared with that of the
     * bytes read.
     */
    static RemoteDigest readOnly(Lane lane) throws RemoteException, InterruptedException {
        return ReadOnlyProbe.digest(lane);
    }

    /** Returns reading back: it works everywhere, but transfers the bytes a second time. */
    static RemoteDigest readBack() {
        return new ReadBackDigest();
    }
}
