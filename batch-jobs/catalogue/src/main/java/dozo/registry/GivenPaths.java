package dozo.registry;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Checks paths on the service's machine that people enter. */
public final class GivenPaths {

    private static final int LENGTH_BYTES_MAX = 4_096;

    private static final FileQuestion<Boolean> IS_FOLDER = new FileQuestion<>(Files::isDirectory);
    private static final FileQuestion<Boolean> IS_FILE = new FileQuestion<>(Files::isRegularFile);

    private GivenPaths() {}

    /** Returns the path without {@code .} and {@code ..}; refuses a path that is relative or too long. */
    public static Path checked(String field, Path path) {
        if (!path.isAbsolute()) {
            throw new Refusal(field, "\"%s\": expected an absolute path", shown(path));
        }
        Path plain = path.normalize();
        if (FilePath.rawBytes(plain).length > LENGTH_BYTES_MAX) {
            throw new Refusal(field, "expected a path of at most %d bytes", LENGTH_BYTES_MAX);
        }
        return plain;
    }

    /** Returns the path; refuses it if there is no folder. */
    static Path folder(String field, Path path) {
        if (!answer(field, IS_FOLDER, path)) {
            throw new Refusal(field, "there is no folder %s on the service's machine", shown(path));
        }
        return path;
    }

    /** Returns the path; refuses it if there is no regular file. */
    static Path file(String field, Path path) {
        if (!answer(field, IS_FILE, path)) {
            throw new Refusal(field, "there is no file %s on the service's machine", shown(path));
        }
        return path;
    }

    private static boolean answer(String field, FileQuestion<Boolean> question, Path path) {
        try {
            return question.about(field, path, FileQuestion.PERSON);
        } catch (IOException notToBeSeen) {
            return false;
        }
    }

    /** Resolves the links on a path; returns the path itself if there is nothing. */
    static Path withoutLinks(Path path) {
        try {
            return path.toRealPath();
        } catch (IOException notThere) {
            return path;
        }
    }

    /** Returns the digest of a path's bytes, by which experiments are found and which the ledger may keep. */
    public static Digest digest(Path path) {
        return Digest.ofContent(FilePath.rawBytes(path));
    }

    /** Returns a path for people. */
    public static String shown(Path path) {
        return FilePath.render(FilePath.rawText(path));
    }
}
