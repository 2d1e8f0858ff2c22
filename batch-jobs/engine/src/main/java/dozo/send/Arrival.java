package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;

/** The result of sending a file, before it is verified: it has arrived, or failed. */
sealed interface Arrival permits Arrival.Arrived, Failed {

    /**
     * The complete file is at the site under this name. The content is of the bytes read here.
     *
     * @param mode its permissions there
     * @param wayIn how it was sent; a file of an archive is in the archive's own folder
     */
    record Arrived(Entry file, Content content, FilePath lies, int mode, WayIn wayIn) implements Arrival {

        /** Creates an arrival by SFTP. */
        Arrived(Entry file, Content content, FilePath lies, int mode) {
            this(file, content, lies, mode, WayIn.SFTP);
        }

        Digest digest() {
            return content.digest();
        }

        /** Returns the outcome if it is verified. */
        Verified verified() {
            return new Verified(file, digest(), wayIn, content.verdict(), content.relation());
        }

        boolean inArchive() {
            return wayIn == WayIn.ARCHIVE;
        }
    }
}
