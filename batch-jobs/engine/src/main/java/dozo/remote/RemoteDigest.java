package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.util.List;
import java.util.Map;

/**
 * A way to have SHA-256 digests computed of what lies at a site. {@link SiteCheck} finds out which of the three work there,
 * and which is fastest.
 */
public sealed interface RemoteDigest permits ExecDigest, CheckFileDigest, ReadBackDigest {

    /** The way in words, for receipts: {@code "exec openssl dgst -sha256"}, {@code "check-file"}, {@code "read-back"}. */
    String method();

    /**
     * The digests of these files. A file whose digest did not come back, for whatever reason, is simply not in the answer:
     * it is not verified.
     *
     * @param bytes what these files hold together: a command is not waited for longer than that can take ({@link Patience})
     * @throws RemoteException if the lane is lost or the way does not work at all; STUCK if a command did not end in time
     */
    Map<FilePath, Digest> digests(Lane lane, List<FilePath> files, long bytes)
            throws RemoteException, InterruptedException;

    /**
     * The digests of the first {@code count} ranges of a file, by their numbers from 0. As with whole files, those that did
     * not come back are not in the answer; and where to have them costs as much as sending the ranges again, none is.
     *
     * @param rangeBytes a multiple of 1 MiB
     */
    default Map<Integer, Digest> ranges(Lane lane, FilePath file, long rangeBytes, int count)
            throws RemoteException, InterruptedException {
        return Map.of();
    }

    /** The same, with commands waited for like this. */
    default RemoteDigest with(Patience patience) {
        return this;
    }

    /** The best way to be had without writing to the site; each of its digests has to be compared with what was read. */
    static RemoteDigest readOnly(Lane lane) throws RemoteException, InterruptedException {
        return ReadOnlyProbe.digest(lane);
    }

    /** Reading everything back: works everywhere, costs the bytes a second time on the wire. */
    static RemoteDigest readBack() {
        return new ReadBackDigest();
    }
}
