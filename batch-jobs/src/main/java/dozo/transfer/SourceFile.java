package dozo.transfer;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Facts;
import dozo.file.Problem;
import dozo.source.DirectoryTree;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads a file of a manifest and makes sure that what was read is what the manifest means. */
final class SourceFile {

    private static final int BUFFER_BYTES = 128 << 10;

    /** Takes bytes as they are read; may reuse nothing of the buffer after it returns. */
    interface Sink {
        void accept(long offset, byte[] bytes, int length) throws IOException, InterruptedException;
    }

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

    private final Path path;
    private final Facts sealed;
    private final String name;

    SourceFile(Route route, Entry entry) {
        this.path = entry.path().under(route.source());
        this.sealed = entry.facts();
        this.name = entry.path().toString();
    }

    /**
     * Reads the bytes from {@code offset} on, hands them over, and gives their digest.
     *
     * @param digesting whether a digest is wanted; without, the result is empty
     * @throws SourceProblem when the file cannot be read, or is not what the manifest says, before or after reading
     * @throws IOException what the sink throws
     */
    Optional<Digest> read(long offset, long length, boolean digesting, Sink sink)
            throws SourceProblem, IOException, InterruptedException {
        Facts before = facts();
        MessageDigest digest = digesting ? Digest.algorithm() : null;
        long at = offset;
        long end = offset + length;
        try (FileChannel channel = open()) {
            byte[] bytes = new byte[Math.clamp(length, 1, BUFFER_BYTES)];
            while (at < end) {
                int n = read(channel, ByteBuffer.wrap(bytes, 0, (int) Math.min(bytes.length, end - at)), at);
                if (n <= 0) {
                    break;
                }
                if (digest != null) {
                    digest.update(bytes, 0, n);
                }
                sink.accept(at, bytes, n);
                at += n;
            }
        } catch (SourceReadException e) {
            throw unreadable(e.getCause());
        }
        Facts after = facts();
        if (at != end || !after.equals(before)) {
            throw new SourceProblem(
                    Problem.CHANGED, name + ": changed while it was read; the next run takes it as it is then");
        }
        return digest == null ? Optional.empty() : Optional.of(Digest.of(digest.digest()));
    }

    private Facts facts() throws SourceProblem {
        try {
            Facts now = DirectoryTree.facts(path);
            if (!now.sameContentAs(sealed)) {
                throw new SourceProblem(
                        Problem.CHANGED,
                        name + ": not what the manifest says any more; the next run takes it as it is then");
            }
            return now;
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private FileChannel open() throws SourceProblem {
        try {
            return FileChannel.open(path, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private static int read(FileChannel channel, ByteBuffer bytes, long at) {
        try {
            return channel.read(bytes, at);
        } catch (IOException e) {
            throw new SourceReadException(e);
        }
    }

    private SourceProblem unreadable(@Nullable Throwable cause) {
        if (cause instanceof NoSuchFileException) {
            return new SourceProblem(Problem.VANISHED, name + ": gone since the manifest was sealed");
        }
        String why = cause instanceof java.nio.file.AccessDeniedException
                ? "permission denied; let the service's user read it"
                : cause instanceof FileSystemException system && system.getReason() != null
                        ? system.getReason()
                        : String.valueOf(cause == null ? null : cause.getMessage());
        return new SourceProblem(Problem.UNREADABLE, name + ": cannot be read: " + why);
    }

    /** Tells a failing source from a failing sink, both of which throw IOException. */
    private static final class SourceReadException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        SourceReadException(IOException cause) {
            super(cause);
        }
    }
}
