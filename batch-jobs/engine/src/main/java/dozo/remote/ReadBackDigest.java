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
        return read(sftp, file, 0, Long.MAX_VALUE, Digest.algorithm());
    }

    /** Returns the answer to a challenge, from bytes that are read over the lane. */
    static Digest answer(Sftp sftp, Challenge challenge) throws RemoteException, InterruptedException {
        return read(sftp, challenge.file(), challenge.offset(), challenge.length(), challenge.begin());
    }

    private static Digest read(Sftp sftp, FilePath file, long offset, long length, MessageDigest digest)
            throws RemoteException, InterruptedException {
        try {
            sftp.read(file, offset, length, digest::update);
        } catch (RemoteException e) {
            throw e;
        } catch (IOException e) {
            throw new RemoteException(Reason.LOST, "reading back " + file + " failed", e);
        }
        return Digest.of(digest.digest());
    }
}
