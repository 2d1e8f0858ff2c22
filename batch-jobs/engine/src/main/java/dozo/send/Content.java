package dozo.send;

import dozo.content.Instance;
import dozo.content.Verdict;
import dozo.file.Digest;
import org.jspecify.annotations.Nullable;

/** What was read of a file: the digest of its bytes, and what they say of whether it is whole, and of its DICOM series. */
record Content(Digest digest, Verdict verdict, @Nullable Instance instance) {

    /** Content of which only the digest is known. */
    Content(Digest digest) {
        this(digest, Verdict.UNKNOWN, null);
    }
}
