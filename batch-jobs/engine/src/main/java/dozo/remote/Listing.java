package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/** One listing, with limits: of its time, of answers without a name, and of what its receiver keeps. */
final class Listing {

    /** No file system has longer names: 255 units of UTF-16 take at most 765 bytes. */
    static final int NAME_BYTES_MAX = 1_024;

    /** More than any site can open. */
    static final int PATH_BYTES_MAX = 32 << 10;

    private static final Duration TIME_MAX = Duration.ofMinutes(10);

    /** A receiver that passes the names on has more time for more names, at the speed of the slowest acceptable site. */
    private static final Duration TIME_PER_NAME = Duration.ofMillis(200);

    private static final Duration PASSING_MAX = Duration.ofDays(1);
    private static final int BYTES_MAX = 8 << 20;
    private static final int EMPTY_ANSWERS_MAX = 100;

    /** What a name needs in memory beside its path. */
    private static final int NAME_BYTES = 128;

    /** The bytes that the listings of all sites may keep at once. */
    private static final Semaphore BUDGET = new Semaphore(4 * BYTES_MAX);

    private final FilePath folder;
    private final boolean keeps;
    private final Duration time;
    private final Duration timeMax;
    private final long beginNanos = System.nanoTime();
    private int keptBytes;
    private long names;
    private int emptyAnswers;

    Listing(FilePath folder, boolean keeps, Duration time, Duration timeMax) {
        this.folder = folder;
        this.keeps = keeps;
        this.time = time;
        this.timeMax = timeMax;
    }

    /** Returns a listing for a receiver that keeps the names until it ends. */
    static Listing keeping(FilePath folder) {
        return new Listing(folder, true, TIME_MAX, TIME_MAX);
    }

    /** Returns a listing for a receiver that passes the names on. */
    static Listing passing(FilePath folder) {
        return new Listing(folder, false, TIME_MAX, PASSING_MAX);
    }

    /** Reads the folder, with one batch of the site's in memory at a time. */
    <X extends Exception> void read(SftpChannel channel, Sftp.Names<X> receiver)
            throws X, RemoteException, InterruptedException {
        byte[] handle = channel.openFolder(folder);
        try {
            Packet next = Packet.of(Packet.READDIR).string(handle);
            Pipeline pipeline = channel.pipeline();
            for (Reply reply = pipeline.ask(next); !reply.isStatus(Reply.END_OF_FILE); reply = pipeline.ask(next)) {
                channel.failIfStatus(reply, folder, Deed.LIST);
                reply.expect(Packet.NAME);
                long left = reply.uint32();
                answer(left);
                for (; left > 0; left--) {
                    byte[] name = reply.string();
                    reply.string();
                    RemoteFacts facts = reply.facts();
                    if (!isDots(name)) {
                        FilePath path = child(pipeline, name);
                        keep(path);
                        receiver.take(path, facts);
                    }
                }
            }
        } finally {
            BUDGET.release(keptBytes);
            channel.release(handle);
        }
    }

    private FilePath child(Pipeline pipeline, byte[] name) throws RemoteException {
        try {
            if (name.length > NAME_BYTES_MAX || folder.bytes().length + name.length > PATH_BYTES_MAX) {
                throw new IllegalArgumentException("expected names of at most %d bytes and paths of at most %d"
                        .formatted(NAME_BYTES_MAX, PATH_BYTES_MAX));
            }
            return folder.resolve(name);
        } catch (IllegalArgumentException e) {
            throw pipeline.protocol("the site returned an invalid name in " + folder + ": " + e.getMessage());
        }
    }

    private static boolean isDots(byte[] name) {
        String text = new String(name, StandardCharsets.ISO_8859_1);
        return text.equals(".") || text.equals("..");
    }

    /** Counts an answer. Throws PROTOCOL if too many have no name, STUCK if the time is over. */
    private void answer(long names) throws RemoteException {
        this.names += names;
        emptyAnswers = names == 0 ? emptyAnswers + 1 : 0;
        if (emptyAnswers > EMPTY_ANSWERS_MAX) {
            throw new RemoteException(
                    Reason.PROTOCOL,
                    "the listing of %s at the site does not end: the last %d answers have no name"
                            .formatted(folder, emptyAnswers));
        }
        Duration allowed = allowed();
        if (System.nanoTime() - beginNanos > allowed.toNanos()) {
            throw new RemoteException(
                    Reason.STUCK, "the listing of %s at the site did not end within %s".formatted(folder, allowed));
        }
    }

    /** Returns the time for a listing that has had so many names. */
    private Duration allowed() {
        boolean more = names < timeMax.dividedBy(TIME_PER_NAME);
        Duration allowed = more ? time.plus(TIME_PER_NAME.multipliedBy(names)) : timeMax;
        return allowed.compareTo(timeMax) < 0 ? allowed : timeMax;
    }

    /** Counts a name. Throws PROTOCOL if there are too many to keep. */
    private void keep(FilePath path) throws RemoteException {
        if (!keeps) {
            return;
        }
        int bytes = path.bytes().length + NAME_BYTES;
        if (keptBytes + bytes > BYTES_MAX || !BUDGET.tryAcquire(bytes)) {
            throw new RemoteException(
                    Reason.PROTOCOL,
                    "the listing of %s at the site has too many names: expected at most %d MiB, and %d MiB in all listings"
                            .formatted(folder, BYTES_MAX >> 20, (4 * BYTES_MAX) >> 20));
        }
        keptBytes += bytes;
    }
}
