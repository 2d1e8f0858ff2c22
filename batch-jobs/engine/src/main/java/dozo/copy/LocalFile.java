package dozo.copy;

import dozo.file.Digest;
import dozo.file.Holes;
import dozo.source.Times;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.Set;

/**
 * A file that arrives under a temporary name. Until it is finished only its owner may read it. A failure to write it is
 * a failure of the whole destination.
 */
final class LocalFile implements AutoCloseable {

    private static final int DIGEST_BYTES = 256 << 10;
    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final Destination destination;
    private final Path path;
    private final FileChannel channel;
    private final long leftBytes;

    private LocalFile(Destination destination, Path path, FileChannel channel, long leftBytes) {
        this.destination = destination;
        this.path = path;
        this.channel = channel;
        this.leftBytes = leftBytes;
    }

    /** Creates a file. */
    static LocalFile create(Destination destination, Path path) throws IOException {
        return new LocalFile(
                destination,
                path,
                FileChannel.open(
                        path,
                        Set.of(
                                StandardOpenOption.CREATE_NEW,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE,
                                LinkOption.NOFOLLOW_LINKS),
                        OWNER_ONLY),
                0);
    }

    /** Opens the file that an earlier run left, or creates one. */
    static LocalFile reopen(Destination destination, Path path) throws IOException {
        if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            Files.deleteIfExists(path);
            return create(destination, path);
        }
        FileChannel channel =
                FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        return new LocalFile(destination, path, channel, channel.size());
    }

    Path path() {
        return path;
    }

    /** Returns the length of the file when it was opened. */
    long leftBytes() {
        return leftBytes;
    }

    /** Writes content at this offset. Pages of zeros become holes, unless something else is there. */
    void write(byte[] bytes, int from, int length, long offset) throws IOException {
        int end = from + length;
        try {
            for (int at = from; at < end; ) {
                int zeros = Holes.zeros(bytes, at, end, offset + at - from);
                if (zeros > 0 && !readsAsZeros(offset + at - from, zeros)) {
                    writeAll(bytes, at, zeros, offset + at - from);
                }
                at += zeros;
                int data = Holes.data(bytes, at, end, offset + at - from);
                writeAll(bytes, at, data, offset + at - from);
                at += data;
            }
        } catch (IOException e) {
            throw destination.unwritable(e);
        }
    }

    /** Returns a receiver that writes content here, and adds it to a digest in the order in which it comes. */
    SiteFiles.Sink digesting(MessageDigest read) {
        return (bytes, from, length, offset) -> {
            read.update(bytes, from, length);
            write(bytes, from, length, offset);
        };
    }

    private void writeAll(byte[] bytes, int from, int length, long offset) throws IOException {
        ByteBuffer content = ByteBuffer.wrap(bytes, from, length);
        for (long at = offset; content.hasRemaining(); ) {
            at += channel.write(content, at);
        }
    }

    /** Returns whether there are only zeros, or nothing: an earlier attempt may have left anything. */
    private boolean readsAsZeros(long offset, int length) throws IOException {
        ByteBuffer there = ByteBuffer.allocate(length);
        for (int n = 0; there.hasRemaining() && n >= 0; ) {
            n = channel.read(there, offset + there.position());
        }
        return Holes.zeros(there.array(), 0, there.position(), offset) == there.position();
    }

    /** Adds a part of the file to a digest. Beyond the current end there will be a hole, which counts as zeros. */
    void digest(MessageDigest into, long offset, long length) throws IOException {
        long left = length - digest(channel, into, offset, length);
        byte[] zeros = new byte[(int) Math.min(DIGEST_BYTES, left)];
        for (; left > 0; left -= zeros.length) {
            into.update(zeros, 0, (int) Math.min(zeros.length, left));
        }
    }

    /** Returns the number of bytes read. */
    static long digest(FileChannel channel, MessageDigest into, long offset, long length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(DIGEST_BYTES, length));
        for (long at = offset; at < offset + length; at += bytes.position()) {
            bytes.clear().limit((int) Math.min(bytes.capacity(), offset + length - at));
            if (channel.read(bytes, at) < 0) {
                return at - offset;
            }
            into.update(bytes.array(), 0, bytes.position());
        }
        return length;
    }

    Digest digest(long offset, long length) throws IOException {
        MessageDigest digest = Digest.algorithm();
        digest(digest, offset, length);
        return Digest.of(digest.digest());
    }

    /**
     * Returns when everything written so far is on the disk.
     *
     * @param facts with mode and time, too
     */
    void force(boolean facts) throws IOException {
        try {
            channel.force(facts);
        } catch (IOException e) {
            throw destination.unwritable(e);
        }
    }

    /** Sets the length, after which nothing is written any more. */
    void fit(Found file) throws IOException {
        try {
            setSize(file.facts().sizeBytes());
        } catch (IOException e) {
            throw destination.unwritable(e);
        }
    }

    /** Sets length, mode and time. */
    void finish(Found file) throws IOException {
        try {
            setSize(file.facts().sizeBytes());
            Times.setModified(path, file.modifiedNanos());
            setMode(path, file.mode());
        } catch (IOException e) {
            throw destination.unwritable(e);
        }
    }

    private void setSize(long sizeBytes) throws IOException {
        long before = channel.size();
        if (before == sizeBytes) {
            return;
        }
        if (before > sizeBytes) {
            channel.truncate(sizeBytes);
        } else {
            try (Arena nothing = Arena.ofConfined()) {
                // A file can only be extended with a hole by mapping a region beyond its end; here the region has no
                // bytes.
                var _ = channel.map(MapMode.READ_WRITE, sizeBytes, 0, nothing);
            } catch (IOException | UnsupportedOperationException e) {
                writeAll(new byte[1], 0, 1, sizeBytes - 1);
            }
        }
        if (channel.size() != sizeBytes) {
            throw new IOException("%s has %d bytes, expected %d".formatted(path, channel.size(), sizeBytes));
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    /** Sets the mode of a file or folder: the permissions, setuid, setgid and sticky. */
    static void setMode(Path path, int mode) throws IOException {
        Files.setAttribute(path, "unix:mode", mode, LinkOption.NOFOLLOW_LINKS);
    }
}
