package dozo.copy;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.SiteAddress;
import dozo.remote.WriteCheck;
import java.io.IOException;
import java.util.function.Consumer;

/**
 * A copy of files and folders from this machine to a site or back. A file with its final name at the destination is
 * verified: its digest, computed at the site, is that of the bytes on this side. A copy that was killed is completed by
 * running it again.
 */
public interface Copy extends AutoCloseable {

    /**
     * How to copy.
     *
     * @param lanes SSH connections, 1 to 64; 0: as many as help, found out while copying
     * @param limitBytesPerSecond limit of content bytes per second; 0: no limit
     * @param dryRun looks and counts, and changes nothing
     * @param comparing whether a dry run compares the sources with what exists at the destination: what is equal counts as verified,
     *     and anything else is a finding
     * @param sftpAlone whether small files are sent by SFTP even if the site unpacks archives
     * @param owners whether a restore gives entries their owners, as far as this process may; otherwise all belong to
     *     the user who restores
     * @param check is asked before each packet to a site
     * @param proofs is told the digests of a copy; a restore has receipts
     * @param filter what a copy takes of its sources; a restore has a selection
     */
    record Options(
            int lanes,
            long limitBytesPerSecond,
            boolean dryRun,
            boolean comparing,
            boolean sftpAlone,
            boolean owners,
            WriteCheck check,
            Proofs proofs,
            Filter filter) {

        public Options(int lanes, long limitBytesPerSecond, boolean dryRun, boolean sftpAlone) {
            this(lanes, limitBytesPerSecond, dryRun, false, sftpAlone, false, WriteCheck.NONE, Proofs.NONE, Filter.ALL);
        }

        public Options(int lanes, long limitBytesPerSecond, boolean dryRun) {
            this(lanes, limitBytesPerSecond, dryRun, false);
        }

        /** Returns the options of a restore that gives entries their owners. */
        public Options withOwners() {
            return new Options(lanes, limitBytesPerSecond, dryRun, comparing, sftpAlone, true, check, proofs, filter);
        }

        /** Returns the options of a dry run that compares. */
        public Options comparingOnly() {
            return new Options(lanes, limitBytesPerSecond, true, true, sftpAlone, owners, check, proofs, filter);
        }

        /** Returns the same options with a check before each packet to a site. */
        public Options checked(WriteCheck asked) {
            return new Options(lanes, limitBytesPerSecond, dryRun, comparing, sftpAlone, owners, asked, proofs, filter);
        }

        /** Returns the same options with somebody who is told the digests. */
        public Options proving(Proofs told) {
            return new Options(lanes, limitBytesPerSecond, dryRun, comparing, sftpAlone, owners, check, told, filter);
        }

        /** Returns the same options for a part of the sources. */
        public Options taking(Filter part) {
            return new Options(lanes, limitBytesPerSecond, dryRun, comparing, sftpAlone, owners, check, proofs, part);
        }

        Lanes lanesTo(SiteAddress site) {
            return (lanes == 0 ? Lanes.tuned(site) : Lanes.to(site, lanes)).checked(check);
        }
    }

    /**
     * The progress of a copy.
     *
     * @param entries files, folders and links found so far
     * @param bytes the total size of the files found so far
     * @param counted whether all have been found
     * @param entriesVerified entries verified at the destination, including those that existed before
     * @param bytesVerified their bytes
     * @param bytesMoved content bytes transferred
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

        /** Returns whether everything to copy is verified at the destination. */
        public boolean complete() {
            return counted && entriesVerified == entries;
        }
    }

    /** Something that was not copied, and the reason. The path is below the source it was found in. */
    record Finding(FilePath path, Problem problem, String message) {}

    /** Is told which digest a file has on both sides; or of a dry run, what it has found. */
    interface Proofs {

        /** Nobody. */
        Proofs NONE = (path, digest) -> {};

        /**
         * Called for each file and link that a dry run finds, by one thread at a time.
         *
         * @param path as of {@link #file}
         */
        default void found(FilePath path) {}

        /**
         * Called for each verified file, by one thread at a time.
         *
         * @param path below the destination, or of a single file that gets another name: beside it
         */
        void file(FilePath path, Digest digest);
    }

    /**
     * Copies. Findings are reported as they are found, by one thread at a time; with any finding the copy is
     * incomplete.
     *
     * @return the progress at the end
     * @throws RemoteException if the site cannot be used, or no longer
     * @throws IOException if this side cannot be used at all
     */
    Progress run(Consumer<Finding> findings) throws IOException, InterruptedException;

    /** Returns the progress; may be called at any time. */
    Progress progress();

    /** Ends the copy at once and closes all connections. */
    @Override
    void close();
}
