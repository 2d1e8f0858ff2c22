package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.send.Outcome.Failed;

/** What came of sending a file, before anything is proven. */
sealed interface Arrival {

    /**
     * All of it lies at the site under this name. The digest is that of what was read here.
     *
     * @param mode the permissions it has there
     * @param wayIn how it came there; of an archive, it lies in the folder that is the archive's own
     */
    record Arrived(Entry file, Digest digest, FilePath lies, int mode, WayIn wayIn) implements Arrival {

        /** By SFTP. */
        Arrived(Entry file, Digest digest, FilePath lies, int mode) {
            this(file, digest, lies, mode, WayIn.SFTP);
        }

        boolean inArchive() {
            return wayIn == WayIn.ARCHIVE;
        }
    }

    record Missing(Failed failed) implements Arrival {}
}
