package dozo.send;

import dozo.content.Relation;
import dozo.content.Verdict;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Problem;
import org.jspecify.annotations.Nullable;

/**
 * The result for one entry of a unit. Expected failures are outcomes; an exception means a failure of the site or a
 * defect here.
 */
public sealed interface Outcome {

    Entry entry();

    /**
     * The entry is at the site under its final name, and its digest, computed there, is that of the source.
     *
     * @param content whether the content is whole, by the rules of its format
     * @param relation what it says of other files, if it was read now; null: nothing
     */
    record Verified(
            Entry entry,
            Digest digest,
            WayIn wayIn,
            Verdict content,
            @Nullable Relation relation) implements Outcome {

        public Verified(Entry entry, Digest digest) {
            this(entry, digest, WayIn.SFTP, Verdict.UNKNOWN, null);
        }
    }

    /**
     * The entry is not safe.
     *
     * @param ofSource whether the whole source does not answer, so that all entries requested meanwhile fail for this
     *     reason
     */
    record Failed(Entry entry, Problem problem, String message, boolean ofSource) implements Outcome, Arrival {

        public Failed(Entry entry, Problem problem, String message) {
            this(entry, problem, message, false);
        }
    }
}
