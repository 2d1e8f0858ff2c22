package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * Sends files to a folder at the site as one archive, which a tar there unpacks as it arrives: no request and no round
 * trip per file. The format is ustar (POSIX.1-1988); names are plain ASCII. Used by one thread; another one may close
 * it.
 */
public final class TarFeed implements AutoCloseable {

    /**
     * The folder travels on the input, so that nothing that the site's shell could misread is part of the command.
     * POSIX: read takes its line byte by byte from a pipe, so that tar gets all the rest.
     */
    private static final String COMMAND = "export LC_ALL=C; umask 077; IFS= read -r root && cd \"$root\""
            + " && IFS= read -r folder && cd \"$folder\" && exec tar -x -p -o -f -";

    /**
     * Over a longer round trip one channel carries less than 20 MB/s. An archive has only one; SFTP spreads its files
     * over all.
     */
    private static final long ROUND_TRIP_MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int BLOCK_BYTES = 512;
    private static final byte[] ZEROS = new byte[2 * BLOCK_BYTES];

    private final Feed feed;
    private final byte[] head;
    private final Patience patience;
    private final Runnable whenClosed;
    private long files;
    private long bytes;

    private TarFeed(Feed feed, byte[] head, Patience patience, Runnable whenClosed) {
        this.feed = feed;
        this.head = head;
        this.whenClosed = whenClosed;
        this.patience = patience;
    }

    /** Returns whether the round trip is short enough for archives to be faster than SFTP. */
    static boolean pays(Lane lane) {
        return lane.roundTripNanos() <= ROUND_TRIP_MAX_NANOS;
    }

    /**
     * Prepares a tar that unpacks into this existing folder. It starts with the first file.
     *
     * @param patience how long tar may read nothing; also the least time for its end, to which time for files and bytes
     *     is added
     * @param whenClosed runs when the feed is closed
     */
    static TarFeed into(Lane lane, FilePath folder, Patience patience, Runnable whenClosed) {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        head.writeBytes(AtRoot.line(lane.site()));
        head.writeBytes("./".getBytes(StandardCharsets.US_ASCII));
        head.writeBytes(folder.bytes());
        head.write('\n');
        return new TarFeed(lane.feed(COMMAND, patience), head.toByteArray(), patience, whenClosed);
    }

    /**
     * Begins a file; its complete content must follow.
     *
     * @param name plain ASCII, at most 100 bytes; a folder in it is created
     * @param sizeBytes less than 8 GiB
     * @param modifiedSeconds 1970–2242
     */
    public void begin(byte[] name, long sizeBytes, int mode, long modifiedSeconds)
            throws RemoteException, InterruptedException {
        if (files == 0) {
            feed.put(head, head.length);
        }
        feed.put(header(name, sizeBytes, mode, modifiedSeconds), BLOCK_BYTES);
        files++;
        bytes += sizeBytes;
    }

    void put(byte[] name, byte[] content, int mode, long modifiedSeconds) throws RemoteException, InterruptedException {
        begin(name, content.length, mode, modifiedSeconds);
        feed.put(content, content.length);
        endFile(content.length, 0);
    }

    /** Returns room for at least one byte of content; what is put there is sent. */
    public ByteBuffer room() throws RemoteException, InterruptedException {
        return feed.room();
    }

    private void fill(long zeros) throws RemoteException, InterruptedException {
        for (long left = zeros; left > 0; left -= ZEROS.length) {
            feed.put(ZEROS, (int) Math.min(left, ZEROS.length));
        }
    }

    /** Ends a file of this size, with zeros for missing content. */
    public void endFile(long sizeBytes, long missing) throws RemoteException, InterruptedException {
        fill(missing);
        fill(-sizeBytes & (BLOCK_BYTES - 1));
    }

    /**
     * Ends the archive, and waits until tar has unpacked it.
     *
     * @throws RemoteException REFUSED if tar reports an error or is killed; STUCK if it does not end in time; LOST if the
     *     connection is gone
     */
    public void end() throws RemoteException, InterruptedException {
        if (files == 0) {
            return;
        }
        fill(ZEROS.length);
        CommandResult result = feed.end(patience.of(files, bytes));
        if (result.exitStatus() != 0) {
            throw new RemoteException(
                    Reason.REFUSED,
                    "tar at the site failed (exit status %d): %s"
                            .formatted(result.exitStatus(), result.errors().strip()));
        }
    }

    /** Abandons the archive if it has not ended. Any thread may call it. */
    @Override
    public void close() {
        feed.close();
        whenClosed.run();
    }

    private static byte[] header(byte[] name, long sizeBytes, int mode, long modifiedSeconds) {
        byte[] header = new byte[BLOCK_BYTES];
        System.arraycopy(name, 0, header, 0, name.length);
        octal(header, 100, 8, mode);
        octal(header, 108, 8, 0);
        octal(header, 116, 8, 0);
        octal(header, 124, 12, sizeBytes);
        octal(header, 136, 12, modifiedSeconds);
        put(header, 148, "        0");
        put(header, 257, "ustar\00000");
        int sum = 0;
        for (byte each : header) {
            sum += each & 0xFF;
        }
        octal(header, 148, 7, sum);
        return header;
    }

    /** Writes octal digits that fill the field, and a NUL. */
    private static void octal(byte[] header, int at, int length, long value) {
        long left = value;
        for (int i = at + length - 2; i >= at; i--) {
            header[i] = (byte) ('0' + (left & 7));
            left >>= 3;
        }
        header[at + length - 1] = 0;
    }

    private static void put(byte[] header, int at, String text) {
        byte[] ascii = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(ascii, 0, header, at, ascii.length);
    }
}
