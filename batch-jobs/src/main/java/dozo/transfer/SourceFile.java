package dozo.transfer;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Problem;
import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;

/** An open file of a manifest, and whether what is read of it is what the manifest means. */
final class SourceFile implements AutoCloseable {

    private static final int DIGEST_BYTES = 128 << 10;

    private final OpenFile file;
    private final String name;

    /** The source cannot be used as the manifest has it. */
    static final class SourceProblem extends Exception {

        private static final long serialVersionUID = 1L;

        private final Problem problem;

        SourceProblem(Problem problem, String message) {
            super(message);
            this.problem = problem;
        }

        Problem problem() {
            return problem;
        }
    }

    private SourceFile(OpenFile file, String name) {
        this.file = file;
        this.name = name;
    }

    /**
     * Opens a file.
     *
     * @param root the source's folder
     * @param sealed what the manifest says of the file
     * @throws SourceProblem when it cannot be opened, or is not what the manifest says
     */
    static SourceFile open(Path root, Entry sealed) throws SourceProblem {
        String name = sealed.path().toString();
        OpenFile file;
        try {
            file = OpenFile.open(root, sealed.path());
        } catch (OpenFile.NoFile e) {
            throw replaced(name);
        } catch (IOException e) {
            throw unreadable(name, e);
        }
        if (!file.factsWhenOpened().sameContentAs(sealed.facts())) {
            file.close();
            throw replaced(name);
        }
        return new SourceFile(file, name);
    }

    /** Fills the buffer from this place on, as far as the file reaches. */
    void read(ByteBuffer into, long offset) throws SourceProblem {
        try {
            file.read(into, offset);
        } catch (IOException e) {
            throw unreadable(name, e);
        }
    }

    /** Reads it all, as far as {@code sizeBytes}, for its digest alone. */
    Digest digest(long sizeBytes) throws SourceProblem {
        MessageDigest digest = Digest.algorithm();
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(sizeBytes, DIGEST_BYTES));
        for (long at = 0; at < sizeBytes; at += bytes.position()) {
            bytes.clear().limit((int) Math.min(bytes.capacity(), sizeBytes - at));
            read(bytes, at);
            if (bytes.position() == 0) {
                break;
            }
            digest.update(bytes.array(), 0, bytes.position());
        }
        checkUnchanged();
        return Digest.of(digest.digest());
    }

    /** Makes sure that the file has not changed since it was opened: call it after the last byte is read. */
    void checkUnchanged() throws SourceProblem {
        try {
            if (file.facts().equals(file.factsWhenOpened())) {
                return;
            }
        } catch (IOException e) {
            throw unreadable(name, e);
        }
        throw new SourceProblem(
                Problem.CHANGED, name + ": changed while it was read; the next run takes it as it is then");
    }

    @Override
    public void close() {
        file.close();
    }

    private static SourceProblem replaced(String name) {
        return new SourceProblem(
                Problem.CHANGED, name + ": not what the manifest says any more; the next run takes it as it is then");
    }

    private static SourceProblem unreadable(String name, IOException cause) {
        if (cause instanceof NoSuchFileException) {
            return new SourceProblem(Problem.VANISHED, name + ": gone since the manifest was sealed");
        }
        String why = cause instanceof AccessDeniedException
                ? "permission denied; let the service's user read it"
                : cause instanceof FileSystemException system && system.getReason() != null
                        ? system.getReason()
                        : String.valueOf(cause.getMessage());
        return new SourceProblem(Problem.UNREADABLE, name + ": cannot be read: " + why);
    }
}
