package dozo.copy;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * A copy of files and folders from this machine to a site or back. What has its final name at the destination is proven:
 * the digest computed at the site is that of the bytes on this side. Run again after it was killed, it finishes the rest.
 */
public interface Copy extends AutoCloseable {

    /**
     * How it is to be done.
     *
     * @param lanes SSH connections, 1 to 64; 0: as many as help, found out while copying
     * @param limitBytesPerSecond content bytes a second at most; 0: no limit
     * @param dryRun looks and counts, and changes nothing
     * @param sftpAlone whether small files go by SFTP, too, and not as archives where the site unpacks them
     */
    record Options(int lanes, long limitBytesPerSecond, boolean dryRun, boolean sftpAlone) {

        public Options(int lanes, long limitBytesPerSecond, boolean dryRun) {
            this(lanes, limitBytesPerSecond, dryRun, false);
        }

        Lanes lanesTo(SiteAddress site) {
            return lanes == 0 ? Lanes.tuned(site) : Lanes.to(site, lanes);
        }
    }

    /**
     * How far it is.
     *
     * @param entries files, folders and links found so far
     * @param bytes the sum of the files' sizes found so far
     * @param counted whether all have been found
     * @param entriesVerified those proven at the destination, those that stood there already among them
     * @param bytesVerified their bytes
     * @param bytesMoved content bytes that went over the wire
     * @param lanes SSH connections open now
     */
    record Progress(
            long entries,
            long bytes,
            boolean counted,
            long entriesVerified,
            long bytesVerified,
            long bytesMoved,
            int lanes) {

        /** Whether all there is to copy is proven at the destination. */
        public boolean complete() {
            return counted && entriesVerified == entries;
        }
    }

    /** Something that was not copied, and why. The path is below the source it was found in. */
    record Finding(FilePath path, Problem problem, String message) {}

    /**
     * Copies. Findings are told as they are found, by one thread at a time; with any of them the copy is not complete.
     *
     * @return the progress at the end
     * @throws RemoteException when the site cannot be used, or not any more
     * @throws IOException when this side cannot be used at all
     */
    Progress run(Consumer<Finding> findings) throws IOException, InterruptedException;

    /** How far it is; may be asked at any time. */
    Progress progress();

    /** Ends it at once and closes all connections. */
    @Override
    void close();
}
