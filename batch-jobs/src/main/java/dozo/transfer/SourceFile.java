package dozo.transfer;

import dozo.file.Digest;
import dozo.file.Facts;
import dozo.file.Problem;
import dozo.source.DirectoryTree;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;

/** An open file of a manifest, and whether what is read of it is what the manifest means. */
final class SourceFile implements AutoCloseable {

    private static final int DIGEST_BYTES = 128 << 10;

    private final Path path;
    private final Facts before;
    private final String name;
    private final FileChannel channel;

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

    private SourceFile(Path path, Facts before, String name, FileChannel channel) {
        this.path = path;
        this.before = before;
        this.name = name;
        this.channel = channel;
    }

    /**
     * Opens a file.
     *
     * @param sealed what the manifest says of it
     * @param name the name for messages
     * @throws SourceProblem when it cannot be opened, or is not what the manifest says
     */
    static SourceFile open(Path path, Facts sealed, String name) throws SourceProblem {
        try {
            Facts now = DirectoryTree.facts(path);
            if (!now.sameContentAs(sealed)) {
                throw new SourceProblem(
                        Problem.CHANGED,
                        name + ": not what the manifest says any more; the next run takes it as it is then");
            }
            FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
            return new SourceFile(path, now, name, channel);
        } catch (IOException e) {
            throw unreadable(name, e);
        }
    }

    /** Fills the buffer from this place on, as far as the file reaches. */
    void read(ByteBuffer into, long offset) throws SourceProblem {
        try {
            int n = 0;
            for (long at = offset; into.hasRemaining() && n >= 0; at += n) {
                n = channel.read(into, at);
            }
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
            if (DirectoryTree.facts(path).equals(before)) {
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
        try {
            channel.close();
        } catch (IOException e) {
            // It was only read: nothing can be lost.
        }
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
