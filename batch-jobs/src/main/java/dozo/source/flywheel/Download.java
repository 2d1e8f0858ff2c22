package dozo.source.flywheel;

import java.io.IOException;
import java.net.http.HttpHeaders;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One file on its way into the spool. Its bytes go to a temporary name; when their number and hash are as Flywheel told, they are
 * brought to the disk and renamed. What a failed try left is gone on with, if the server gives exactly the rest.
 */
final class Download {

    /** What is known to have no size has to end somewhere. */
    private static final long SIZE_UNKNOWN_BYTES_MAX = 1L << 44;

    private static final int COPY_BYTES = 1 << 17;

    private final Flywheel flywheel;
    private final HeldFile file;
    private final Path part;
    private final @Nullable TheirHash hash;

    /** One try's: where it begins is known when the answer is there. */
    private final class Arriving implements Flywheel.Receiver {

        private final FileChannel channel;
        private final long had;
        // NB: the client's own buffers are small and hide their arrays, which makes a digest of them slow.
        private final ByteBuffer gathered = ByteBuffer.allocate(COPY_BYTES);
        private @Nullable MessageDigest digest;
        private long taken;
        private boolean over;

        Arriving(FileChannel channel) throws IOException {
            this.channel = channel;
            this.had = channel.size();
        }

        @Override
        public synchronized Body.Sink begins(int status, HttpHeaders headers) throws IOException {
            long from = status == 206 ? had : 0;
            if (status == 206
                    && !rest().equals(headers.firstValue("Content-Range").orElse(""))) {
                discard();
                throw new FlywheelException(Trouble.TRUNCATED, "the server gave another range than the one asked for");
            }
            channel.truncate(from);
            channel.position(from);
            gathered.clear();
            taken = from;
            digest = hash == null ? null : hash.fresh();
            if (digest != null && from > 0) {
                readInto(digest, from);
            }
            return this::take;
        }

        private String rest() {
            return "bytes %d-%d/%d".formatted(had, file.sizeBytes() - 1, file.sizeBytes());
        }

        private synchronized void take(ByteBuffer bytes) throws IOException {
            if (file.sizeBytes() >= 0 && bytes.remaining() > file.sizeBytes() - taken) {
                throw new FlywheelException(
                        Trouble.SIZE_DIFFERS, "more than the %d bytes it was told to have".formatted(file.sizeBytes()));
            }
            if (over) {
                throw new IOException("these bytes came when nobody waited for them any more");
            }
            taken += bytes.remaining();
            while (bytes.hasRemaining()) {
                if (!gathered.hasRemaining()) {
                    flush();
                }
                int length = Math.min(bytes.remaining(), gathered.remaining());
                gathered.put(gathered.position(), bytes, bytes.position(), length);
                gathered.position(gathered.position() + length);
                bytes.position(bytes.position() + length);
            }
        }

        private void flush() throws IOException {
            gathered.flip();
            if (digest != null) {
                digest.update(gathered.array(), 0, gathered.limit());
            }
            while (gathered.hasRemaining()) {
                channel.write(gathered);
            }
            gathered.clear();
        }

        private void readInto(MessageDigest known, long bytes) throws IOException {
            ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
            for (long at = 0; at < bytes; ) {
                int read = channel.read(buffer.clear(), at);
                if (read < 0) {
                    throw new IOException("the part became shorter");
                }
                known.update(buffer.flip());
                at += read;
            }
        }

        /** Whatever came of the answer: what is here goes into the part, and nothing more. */
        synchronized void end() throws FlywheelException {
            over = true;
            try {
                flush();
            } catch (IOException e) {
                throw spoolFails(e);
            }
        }

        void check() throws IOException {
            if (file.sizeBytes() >= 0 && channel.size() < file.sizeBytes()) {
                throw new FlywheelException(
                        Trouble.TRUNCATED,
                        "%d bytes came, not the %d it was told to have".formatted(channel.size(), file.sizeBytes()));
            }
            if (hash != null && (digest == null || !hash.is(digest.digest()))) {
                discard();
                throw new FlywheelException(
                        Trouble.HASH_DIFFERS, "the bytes that came have another %s".formatted(hash.algorithm()));
            }
            try {
                channel.force(true);
            } catch (IOException e) {
                throw spoolFails(e);
            }
        }

        private void discard() throws IOException {
            channel.truncate(0);
        }
    }

    /** @param part the temporary name; nothing else uses it at the same time */
    Download(Flywheel flywheel, HeldFile file, Path part) {
        this.flywheel = flywheel;
        this.file = file;
        this.part = part;
        this.hash = TheirHash.of(file.hash()).orElse(null);
    }

    /**
     * Brings the file to its final name, in the place of an earlier version of it.
     *
     * @throws FlywheelException when it did not come, or not as it was told, after all tries
     */
    long into(Path end) throws IOException, InterruptedException {
        if (hash == null) {
            discardPart();
        }
        long bytes = fetch();
        try {
            Files.createDirectories(end.getParent());
            Files.move(part, end, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw spoolFails(e);
        }
        return bytes;
    }

    /** What a crash left may be other bytes than those that came, and nothing would tell. */
    private void discardPart() throws FlywheelException {
        try {
            Files.deleteIfExists(part);
        } catch (IOException e) {
            throw spoolFails(e);
        }
    }

    /** NB: a whole file is fetched for each look at its hash, so there are two and not as many as tries. */
    private long fetch() throws IOException, InterruptedException {
        try {
            return flywheel.persist(this::attempt);
        } catch (FlywheelException e) {
            if (e.trouble() != Trouble.HASH_DIFFERS) {
                throw e;
            }
            return flywheel.persist(this::attempt);
        }
    }

    private long attempt() throws IOException, InterruptedException {
        try (FileChannel channel = open()) {
            Arriving arriving = new Arriving(channel);
            long had = channel.size();
            boolean resumes = had > 0 && had < file.sizeBytes();
            String query = "?version=%d%s".formatted(file.version(), resumes ? "&view=true" : "");
            try {
                flywheel.exchange(
                        file.path() + query,
                        resumes ? "bytes=%d-".formatted(had) : null,
                        SIZE_UNKNOWN_BYTES_MAX,
                        arriving);
            } catch (FlywheelException e) {
                arriving.end();
                if (resumes && e.trouble() == Trouble.REJECTED) {
                    // The server does not know this rest: the next try asks for all of it.
                    channel.truncate(0);
                    throw new FlywheelException(Trouble.TRUNCATED, String.valueOf(e.getMessage()), e);
                }
                throw e;
            }
            arriving.end();
            arriving.check();
            return channel.size();
        }
    }

    private FileChannel open() throws FlywheelException {
        try {
            Files.createDirectories(part.getParent());
            return FileChannel.open(part, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw spoolFails(e);
        }
    }

    private static FlywheelException spoolFails(IOException e) {
        return new FlywheelException(Trouble.SPOOL, "the spool cannot be written: " + e, e);
    }

    /** Whether a file that is there already has these bytes; never without a hash. */
    static boolean isAt(Path end, HeldFile file) throws IOException {
        Optional<TheirHash> hash = TheirHash.of(file.hash());
        if (hash.isEmpty()
                || !Files.isRegularFile(end, LinkOption.NOFOLLOW_LINKS)
                || Files.size(end) != file.sizeBytes()) {
            return false;
        }
        MessageDigest digest = hash.get().fresh();
        ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
        try (FileChannel channel = FileChannel.open(end, StandardOpenOption.READ)) {
            while (channel.read(buffer.clear()) >= 0) {
                digest.update(buffer.flip());
            }
        }
        return hash.get().is(digest.digest());
    }
}
