package dozo.send;

import dozo.content.Verdict;
import dozo.file.Digest;

/** What was read of a file: the digest of its bytes, and what they say of whether it is whole. */
record Content(Digest digest, Verdict verdict) {

    /** Content of which only the digest is known. */
    Content(Digest digest) {
        this(digest, Verdict.UNKNOWN);
    }
}
