package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.List;
import java.util.Map;

/** Reads the stored bytes back over the lane and digests them here. */
record ReadBackDigest() implements RemoteDigest {

    @Override
    public String method() {
        return "read-back";
    }

    @Override
    public Map<FilePath, Digest> digests(Lane lane, List<FilePath> files, long bytes)
            throws RemoteException, InterruptedException {
        return Fanout.digests(files, file -> digest(lane.sftp(), file));
    }

    private static Digest digest(Sftp sftp, FilePath file) throws RemoteException, InterruptedException {
        MessageDigest digest = Digest.algorithm();
        try {
            sftp.read(file, 0, Long.MAX_VALUE, digest::update);
        } catch (RemoteException e) {
            throw e;
        } catch (IOException e) {
            throw new RemoteException(Reason.LOST, "reading back " + file + " failed", e);
        }
        return Digest.of(digest.digest());
    }
}
