package dozo.restore;

import dozo.copy.Copy;

/**
 * A restore into an archive, a Flywheel or an XNAT. An entry is verified if that has an instance or file with its bytes. Its progress counts
 * files and links, not folders.
 */
public interface ArchiveRestore extends Copy {

    /**
     * What was counted so far.
     *
     * @param studies with a verified instance; of a Flywheel or XNAT, sessions
     * @param series with a verified instance; of a Flywheel, acquisitions; of an XNAT, scans
     * @param sent instances or files that were sent and are verified
     * @param foundEqual instances or files that were there before
     * @param differing instances or files of which the archive has other bytes
     * @param notSent files and links that were not sent, or not accepted
     */
    record Counts(long studies, long series, long sent, long foundEqual, long differing, long notSent) {

        static final Counts NONE = new Counts(0, 0, 0, 0, 0, 0);
    }

    /** Returns the counts; may be called at any time. */
    Counts counts();
}
