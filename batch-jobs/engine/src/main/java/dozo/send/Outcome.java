package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Problem;

/** What came of one entry of a unit. Expected failures are outcomes; an exception means the site or we are broken. */
public sealed interface Outcome {

    Entry entry();

    /** It stands at the site under its final name, and its digest, computed there, is that of the source. */
    record Verified(Entry entry, Digest digest, WayIn wayIn) implements Outcome {

        public Verified(Entry entry, Digest digest) {
            this(entry, digest, WayIn.SFTP);
        }
    }

    /**
     * It is not safe.
     *
     * @param ofSource whether the reason is that the whole source does not answer: it is that of all entries that are asked for then
     */
    record Failed(Entry entry, Problem problem, String message, boolean ofSource) implements Outcome {

        public Failed(Entry entry, Problem problem, String message) {
            this(entry, problem, message, false);
        }
    }
}
