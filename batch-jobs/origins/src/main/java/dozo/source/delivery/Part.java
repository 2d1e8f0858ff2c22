package dozo.source.delivery;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;

/** A file under its temporary name. */
public final class Part {

    private static final int COPY_BYTES = 1 << 17;

    /** Data is synced in steps of this size, so that syncing overlaps with other downloads; a multiple of the copies. */
    private static final int SYNC_BYTES = 1 << 24;

    private final Path path;

    Part(Path path) {
        this.path = path;
    }

    public Path path() {
        return path;
    }

    /** Returns how many bytes have arrived, including earlier tries. */
    public long sizeBytes() throws DeliveryException {
        try {
            return Files.exists(path) ? Files.size(path) : 0;
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
    }

    public void discard() throws DeliveryException {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
    }

    /**
     * Writes the whole stream and syncs it to the disk. Bytes that arrived before a failure are kept.
     *
     * @param in an answer's body: its own failures are {@link DeliveryException}s, so all others are the spool's
     * @param from how many bytes of an earlier try are kept before the stream's bytes
     * @param told the file's size; negative if the origin does not say
     * @throws DeliveryException if the stream fails, more bytes arrive than listed, or the spool cannot be written
     */
    public void take(InputStream in, long from, long told) throws DeliveryException {
        try {
            Files.createDirectories(path.getParent());
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                channel.truncate(from).position(from);
                copy(in, channel, from, told);
                channel.force(true);
            }
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
    }

    private static void copy(InputStream in, FileChannel channel, long from, long told) throws IOException {
        byte[] gathered = new byte[COPY_BYTES];
        int length = 0;
        long taken = from;
        try {
            for (int n; (n = in.read(gathered, length, gathered.length - length)) >= 0; ) {
                if (told >= 0 && n > told - taken) {
                    throw new DeliveryException(
                            Trouble.SIZE_DIFFERS, "file is longer than the listed %d bytes".formatted(told));
                }
                taken += n;
                length += n;
                if (length == gathered.length) {
                    length = 0;
                    write(channel, gathered, gathered.length);
                    if ((taken - from) % SYNC_BYTES == 0) {
                        channel.force(true);
                    }
                }
            }
        } finally {
            write(channel, gathered, length);
        }
    }

    private static void write(FileChannel channel, byte[] bytes, int length) throws IOException {
        for (ByteBuffer left = ByteBuffer.wrap(bytes, 0, length); left.hasRemaining(); ) {
            channel.write(left);
        }
    }

    /** Digests all bytes of a file. */
    public static MessageDigest digest(Path file, MessageDigest digest) throws DeliveryException {
        try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
            in.transferTo(OutputStream.nullOutputStream());
            return digest;
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
    }
}
