package dozo.source;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A file of a source, open for reading: the one that had the name when it was opened, whatever happens to the name
 * later. No link is followed below the root or on the way to it, not even one created after the walk of the source:
 * such a link may lead to somebody else's file. Linux only, as {@link Crawl}; needs {@code /proc}.
 */
public final class OpenFile implements AutoCloseable {

    /** One is taken for each call and returned, so there are no more than threads that call at the same time. */
    private static final Queue<Kernel> KERNELS = new ConcurrentLinkedQueue<>();

    static final Path TOP = Path.of("/");

    private final FilePath path;
    private final int opened;
    private final Facts factsWhenOpened;
    private final Identity identity;
    private final boolean sparse;
    private final FileChannel channel;

    /** What all names of a file have in common, and no other file has. */
    private record Identity(long device, long inode) {}

    /** Something else has the name, or that of a parent folder: a link, a folder, a socket. */
    public static final class NoFile extends FileSystemException {

        private static final long serialVersionUID = 1L;

        NoFile(FilePath path) {
            super(path.toString(), null, "it is no longer a file, or is no longer in this folder");
        }
    }

    interface Call<T> {
        T by(Kernel kernel) throws IOException;
    }

    private OpenFile(
            FilePath path, int opened, Facts factsWhenOpened, Identity identity, boolean sparse, FileChannel channel) {
        this.path = path;
        this.opened = opened;
        this.factsWhenOpened = factsWhenOpened;
        this.identity = identity;
        this.sparse = sparse;
        this.channel = channel;
    }

    /**
     * Opens a file.
     *
     * @param root the source's folder; or the file itself, with the root's own path
     * @throws NoSuchFileException if it does not exist
     * @throws NoFile if something else has the name, or there is a link on the way
     * @throws IOException if it cannot be read
     */
    public static OpenFile open(Path root, FilePath path) throws IOException {
        Path parent = root.toAbsolutePath().getParent();
        if (path.isRoot() && parent != null) {
            return open(parent, FilePath.between(parent, root.toAbsolutePath()));
        }
        return call(kernel -> {
            FilePath above = FilePath.between(TOP, root).resolve(path.parent());
            int folder = checked(FolderOpener.open(kernel, above, false), path);
            try {
                return open(kernel, folder, path);
            } finally {
                kernel.close(folder);
            }
        });
    }

    private static OpenFile open(Kernel kernel, int folder, FilePath path) throws IOException {
        byte[] name = path.name();
        int opened = checked(kernel.openToLook(folder, name, 0, name.length), path);
        try {
            checked(kernel.lookAtOpen(opened), path);
            if (kernel.kind().filter(EntryKind.FILE::equals).isEmpty()) {
                throw new NoFile(path);
            }
            Facts facts = kernel.facts(EntryKind.FILE, null);
            Identity identity = new Identity(kernel.device(), kernel.inode());
            boolean sparse = kernel.isSparse();
            // By its number and not by its name, which another file may have by now.
            FileChannel channel = FileChannel.open(Path.of(numbered(opened)), StandardOpenOption.READ);
            return new OpenFile(path, opened, facts, identity, sparse, channel);
        } catch (IOException | RuntimeException e) {
            kernel.close(opened);
            throw e;
        }
    }

    private static String numbered(int opened) {
        return "/proc/self/fd/" + opened;
    }

    /** Returns the facts of the file when it was opened. */
    public Facts factsWhenOpened() {
        return factsWhenOpened;
    }

    /** Returns whether both are the same file, under two names or one. */
    public boolean isSameAs(OpenFile other) {
        return identity.equals(other.identity);
    }

    /** Returns whether it occupied less space than its length when it was opened: it has holes, or is compressed. */
    public boolean isSparse() {
        return sparse;
    }

    /** Returns the current facts of the open file. */
    public Facts facts() throws IOException {
        return call(kernel -> {
            checked(kernel.lookAtOpen(opened), path);
            return kernel.facts(EntryKind.FILE, null);
        });
    }

    /** Returns the whole content. Closing the stream ends all reading of this file. */
    public InputStream stream() {
        return Channels.newInputStream(channel);
    }

    /** Fills the buffer from this offset on, as far as the file reaches. */
    public void read(ByteBuffer into, long offset) throws IOException {
        int n = 0;
        for (long at = offset; into.hasRemaining() && n >= 0; at += n) {
            n = channel.read(into, at);
        }
    }

    /**
     * Asks the kernel to drop the content from its memory, so that it is read from the disk next. Some file systems cannot do that:
     * then it stays. Its readers are not disturbed.
     */
    public void dropFromMemory() throws IOException {
        call(kernel -> checked(kernel.dropFromMemory(numbered(opened).getBytes(StandardCharsets.US_ASCII)), path));
    }

    /** Returns whether nothing is read from this offset on. */
    public boolean endsAt(long offset) throws IOException {
        return channel.read(ByteBuffer.allocate(1), offset) < 0;
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // It was only read: nothing can be lost.
        }
        close(opened);
    }

    static void close(int opened) {
        try {
            call(kernel -> {
                kernel.close(opened);
                return opened;
            });
        } catch (IOException e) {
            throw new IllegalStateException("closing says nothing", e);
        }
    }

    static <T> T call(Call<T> call) throws IOException {
        Kernel free = KERNELS.poll();
        Kernel kernel = free == null ? new Kernel(Arena.ofShared()) : free;
        try {
            return call.by(kernel);
        } finally {
            KERNELS.add(kernel);
        }
    }

    static int checked(int result, FilePath path) throws IOException {
        if (result < 0 && Errno.of(-result) == Errno.NO_FOLDER) {
            throw new NoFile(path);
        }
        return Errno.checked(result, path);
    }
}
