package dozo.certificate;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.registry.Code;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/**
 * A proven entry, as a line of a certificate's list.
 *
 * @param digest of a file's content or a link's text; of nothing for a folder
 * @param verifiedAt when the digest was computed at the site
 * @param method how it was computed there
 */
record ListedEntry(EntryKind kind, long sizeBytes, Digest digest, Instant verifiedAt, String method, FilePath path) {

    /** Returns the line without its line end: ASCII, fields separated by one space. */
    byte[] line() {
        return "%c %d %s %s %s %s"
                .formatted(
                        kind.code(),
                        sizeBytes,
                        digest,
                        verifiedAt,
                        Code.escaped(method.getBytes(StandardCharsets.UTF_8)),
                        Code.escaped(path.bytes()))
                .getBytes(StandardCharsets.US_ASCII);
    }
}
