package dozo.send;

import dozo.content.Relation;
import dozo.content.Verdict;
import dozo.file.Digest;
import org.jspecify.annotations.Nullable;

/** What was read of a file: the digest of its bytes, and what they say of whether it is whole, and of other files. */
record Content(Digest digest, Verdict verdict, @Nullable Relation relation) {

    /** Content of which only the digest is known. */
    Content(Digest digest) {
        this(digest, Verdict.UNKNOWN, null);
    }
}
