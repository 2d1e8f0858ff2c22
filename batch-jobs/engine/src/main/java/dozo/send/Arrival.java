package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.send.Outcome.Failed;

/** The result of sending a file, before it is verified: it has arrived, or failed. */
sealed interface Arrival permits Arrival.Arrived, Failed {

    /**
     * The complete file is at the site under this name. The digest is of the bytes read here.
     *
     * @param mode its permissions there
     * @param wayIn how it was sent; a file of an archive is in the archive's own folder
     */
    record Arrived(Entry file, Digest digest, FilePath lies, int mode, WayIn wayIn) implements Arrival {

        /** Creates an arrival by SFTP. */
        Arrived(Entry file, Digest digest, FilePath lies, int mode) {
            this(file, digest, lies, mode, WayIn.SFTP);
        }

        boolean inArchive() {
            return wayIn == WayIn.ARCHIVE;
        }
    }
}
