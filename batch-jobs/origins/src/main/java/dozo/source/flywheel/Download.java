package dozo.source.flywheel;

import dozo.source.http.Answer;
import java.io.IOException;
import java.io.InputStream;
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

    /** So much is brought to the disk while other files come; all of it at the end would have nothing to do but that. */
    private static final int SYNC_BYTES = 1 << 24;

    private final Flywheel flywheel;
    private final HeldFile file;
    private final Path part;
    private final @Nullable TheirHash hash;

    /** One try's: where it begins is known when the answer is there. */
    private final class Arriving {

        private final FileChannel channel;
        private final long had;
        private @Nullable MessageDigest digest;

        Arriving(FileChannel channel) throws IOException {
            this.channel = channel;
            this.had = channel.size();
        }

        void take(Answer answer) throws IOException {
            long from = answer.status() == 206 ? had : 0;
            if (answer.status() == 206
                    && !rest().equals(answer.header("Content-Range").orElse(""))) {
                discard();
                throw new FlywheelException(Trouble.TRUNCATED, "the server gave another range than the one asked for");
            }
            digest = hash == null ? null : hash.fresh();
            try {
                channel.truncate(from);
                channel.position(from);
                if (digest != null && from > 0) {
                    readInto(digest, from);
                }
            } catch (IOException e) {
                throw spoolFails(e);
            }
            try (InputStream body = answer.body(SIZE_UNKNOWN_BYTES_MAX)) {
                copy(body, from);
            }
        }

        private String rest() {
            return "bytes %d-%d/%d".formatted(had, file.sizeBytes() - 1, file.sizeBytes());
        }

        /** Whatever comes of the answer: what is here goes into the part, for the next try to go on behind it. */
        private void copy(InputStream body, long from) throws IOException {
            byte[] gathered = new byte[COPY_BYTES];
            int length = 0;
            long taken = from;
            long synced = from;
            try {
                for (int n; (n = body.read(gathered, length, gathered.length - length)) >= 0; ) {
                    if (file.sizeBytes() >= 0 && n > file.sizeBytes() - taken) {
                        throw new FlywheelException(
                                Trouble.SIZE_DIFFERS,
                                "more than the %d bytes it was told to have".formatted(file.sizeBytes()));
                    }
                    taken += n;
                    length += n;
                    if (length == gathered.length) {
                        length = 0;
                        write(gathered, gathered.length);
                        if (taken - synced >= SYNC_BYTES) {
                            sync();
                            synced = taken;
                        }
                    }
                }
            } finally {
                write(gathered, length);
            }
        }

        private void write(byte[] bytes, int length) throws FlywheelException {
            if (digest != null) {
                digest.update(bytes, 0, length);
            }
            try {
                for (ByteBuffer left = ByteBuffer.wrap(bytes, 0, length); left.hasRemaining(); ) {
                    channel.write(left);
                }
            } catch (IOException e) {
                throw spoolFails(e);
            }
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
            sync();
        }

        private void sync() throws FlywheelException {
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
                flywheel.exchange(file.path() + query, resumes ? "bytes=%d-".formatted(had) : null, arriving::take);
            } catch (FlywheelException e) {
                if (resumes && e.trouble() == Trouble.REJECTED) {
                    // The server does not know this rest: the next try asks for all of it.
                    channel.truncate(0);
                    throw new FlywheelException(Trouble.TRUNCATED, String.valueOf(e.getMessage()), e);
                }
                throw e;
            }
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
