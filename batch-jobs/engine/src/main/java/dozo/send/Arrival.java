package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.remote.SiteCheck;
import dozo.send.Outcome.Failed;

/** What came of sending a file, before anything is proven. */
sealed interface Arrival {

    /**
     * All of it lies at the site under this name. The digest is that of what was read here.
     *
     * @param mode the permissions it has there
     */
    record Arrived(Entry file, Digest digest, FilePath lies, int mode) implements Arrival {

        WayIn wayIn() {
            return inArchive() ? WayIn.ARCHIVE : WayIn.SFTP;
        }

        /** Whether it lies in the folder of an archive. */
        boolean inArchive() {
            return SiteCheck.isScratch(lies.parent());
        }
    }

    record Missing(Failed failed) implements Arrival {}
}
