package dozo.rebuild;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Malformed;
import dozo.file.Problem;
import dozo.file.Spool;
import dozo.send.NameForm;
import dozo.send.NameForm.Line;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The list of a bag's files: which digest has which file. It was read completely and has the digest that the tag manifest
 * says. A name in it is used only if it is a plain path below {@code data}.
 */
final class BagList implements AutoCloseable {

    private static final byte[] DATA = "data/".getBytes(StandardCharsets.US_ASCII);
    private static final int BUFFER_BYTES = 64 << 10;

    private final Spool content;
    private final NameForm form;
    private final PathDigests digests;

    /** Receives lines that are not used. */
    interface Unusable {
        void line(Problem problem, String message);
    }

    /** Receives the path of each file, below the data folder. */
    interface Each {
        void file(FilePath path, Digest digest);
    }

    private BagList(Spool content, NameForm form, PathDigests digests) {
        this.content = content;
        this.form = form;
        this.digests = digests;
    }

    /**
     * Checks the content, which is closed with the result.
     *
     * @throws Malformed if it has another digest
     */
    static BagList of(Spool content, NameForm form, Digest expected) throws IOException {
        MessageDigest digest = Digest.algorithm();
        long lines = 0;
        byte[] buffer = new byte[BUFFER_BYTES];
        try (InputStream in = content.read()) {
            for (int n = in.read(buffer, 0, buffer.length); n > 0; n = in.read(buffer, 0, buffer.length)) {
                digest.update(buffer, 0, n);
                for (int i = 0; i < n; i++) {
                    lines += buffer[i] == '\n' ? 1 : 0;
                }
            }
        }
        Digest found = Digest.of(digest.digest());
        if (!found.equals(expected)) {
            throw new Malformed("the list was read with digest %s instead of %s", found, expected);
        }
        return new BagList(content, form, PathDigests.ofUpTo(lines));
    }

    /** Reads the list into the table that {@link #take} uses. */
    void index(Unusable unusable) throws IOException {
        each(unusable, (path, digest) -> {
            if (!digests.put(path, digest)) {
                unusable.line(Problem.UNPARSED, "%s: the list has two digests of it".formatted(path));
            }
        });
    }

    /** Returns the digest of a file and marks it as found; null if it is not listed. */
    @Nullable
    Digest take(FilePath path) {
        return digests.take(path);
    }

    /** Returns the digest of a file; null if it is not listed. */
    @Nullable
    Digest digest(FilePath path) {
        return digests.find(path);
    }

    /** Reports the files that were not {@linkplain #take taken}. */
    void missing(Each missing) throws IOException {
        if (digests.allTaken()) {
            return;
        }
        each((problem, message) -> {}, (path, digest) -> {
            if (!digests.isTaken(path)) {
                missing.file(path, digest);
            }
        });
    }

    private void each(Unusable unusable, Each each) throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        int held = 0;
        try (InputStream in = content.read()) {
            for (int n = in.read(buffer, 0, buffer.length); n > 0; n = in.read(buffer, held, buffer.length - held)) {
                int start = 0;
                for (int i = held; i < held + n; i++) {
                    if (buffer[i] == '\n') {
                        file(Arrays.copyOfRange(buffer, start, i), unusable, each);
                        start = i + 1;
                    }
                }
                held += n - start;
                System.arraycopy(buffer, start, buffer, 0, held);
                if (held == buffer.length) {
                    // Longer than the line of any path: its parts cannot be parsed either.
                    file(buffer.clone(), unusable, each);
                    held = 0;
                }
            }
        }
        if (held > 0) {
            file(Arrays.copyOf(buffer, held), unusable, each);
        }
    }

    private void file(byte[] text, Unusable unusable, Each each) {
        Line line;
        try {
            line = form.readLine(text);
        } catch (Malformed e) {
            unusable.line(Problem.UNPARSED, "a line of the bag's list cannot be parsed: " + e.getMessage());
            return;
        }
        FilePath path = pathOf(line.name());
        if (path == null) {
            unusable.line(
                    Problem.OUTSIDE,
                    "the bag's list names \"%s\": expected a plain path below data; it is not used"
                            .formatted(FilePath.render(line.name())));
        } else {
            each.file(path, line.digest());
        }
    }

    /** Returns the path below the data folder; null if it is not a plain one. */
    static @Nullable FilePath pathOf(byte[] name) {
        if (name.length <= DATA.length || !Arrays.equals(name, 0, DATA.length, DATA, 0, DATA.length)) {
            return null;
        }
        try {
            return FilePath.of(Arrays.copyOfRange(name, DATA.length, name.length));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    @Override
    public void close() {
        digests.close();
        content.close();
    }
}
