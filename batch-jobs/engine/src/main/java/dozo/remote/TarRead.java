package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads files of a site as one archive, which a tar there packs while it is sent: no request and no round trip per file. What is not in
 * it, for whatever reason, is to be read by SFTP, which also finds the reason. Used by one thread; another one may close it.
 */
public final class TarRead implements AutoCloseable {

    /** The root and the names travel on the input, so that nothing that the site's shell could misread is part of the command. */
    private static final String COMMAND =
            "export LC_ALL=C; IFS= read -r root && cd \"$root\" && exec tar -c -f - --null -T -";

    /** More than the headers for the longest path take, and the end of an archive. */
    private static final int HEADERS_BYTES_MAX = 128 << 10;

    private final Lane lane;
    private final Feed feed;
    private final Patience patience;
    private final Runnable whenClosed;

    /** Takes the files of an archive. */
    public interface Sink {

        /** Takes a file. The content ends where the file does; what is left of it is skipped. */
        void take(FilePath file, long sizeBytes, InputStream content) throws IOException, InterruptedException;
    }

    /**
     * Prepares a tar.
     *
     * @param patience the least time for its end, to which time for files and bytes is added
     * @param whenClosed runs when this is closed
     */
    TarRead(Lane lane, Patience patience, Runnable whenClosed) {
        this.lane = lane;
        this.feed = lane.feed(COMMAND, patience);
        this.patience = patience;
        this.whenClosed = whenClosed;
    }

    /**
     * Reads files, in their order. Those that are no plain files are not in the archive.
     *
     * @param bytes how many are expected, for the time limit
     * @throws RemoteException if the archive is cut off, or no archive; files taken before that are whole
     */
    public void read(List<FilePath> files, long bytes, Sink sink) throws IOException, InterruptedException {
        Map<String, FilePath> wanted = new HashMap<>();
        for (FilePath file : files) {
            wanted.put("./" + new String(file.bytes(), StandardCharsets.ISO_8859_1), file);
        }
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        input.writeBytes(AtRoot.line(lane.site()));
        input.writeBytes(AtRoot.names(files));
        Duration limit = patience.of(files.size(), bytes);
        CompletableFuture<Void> ended = new CompletableFuture<>();
        var _ = ended.orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS).exceptionally(_ -> {
            feed.close();
            return null;
        });
        try (Headers headers = new Headers(feed.output(input.toByteArray()));
                TarArchiveInputStream archive =
                        new TarArchiveInputStream(headers, StandardCharsets.ISO_8859_1.name())) {
            for (TarArchiveEntry entry = next(archive, headers); entry != null; entry = next(archive, headers)) {
                FilePath file = entry.isFile() && !entry.isLink() && !entry.isSymbolicLink()
                        ? wanted.remove(entry.getName())
                        : null;
                if (file != null) {
                    sink.take(file, entry.getSize(), archive);
                }
            }
        } finally {
            ended.complete(null);
        }
    }

    private static @Nullable TarArchiveEntry next(TarArchiveInputStream archive, Headers headers) throws IOException {
        try {
            if (archive.getCurrentEntry() != null) {
                archive.transferTo(OutputStream.nullOutputStream());
            }
            headers.left = HEADERS_BYTES_MAX;
            TarArchiveEntry entry = archive.getNextEntry();
            headers.left = Long.MAX_VALUE;
            if (entry != null && entry.isSparse()) {
                throw new IOException("expected no sparse file");
            }
            return entry;
        } catch (RemoteException e) {
            throw e;
        } catch (IOException | IllegalArgumentException e) {
            throw new RemoteException(Reason.PROTOCOL, "tar at the site sent something that is no archive", e);
        }
    }

    /** Limits what the headers of an entry may take: a name in them is read into memory whole, however long it is. */
    private static final class Headers extends FilterInputStream {

        private long left;

        Headers(InputStream archive) {
            super(archive);
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int read = super.read(into, offset, length);
            left -= Math.max(0, read);
            if (left < 0) {
                throw new IOException("expected at most %d bytes before a file".formatted(HEADERS_BYTES_MAX));
            }
            return read;
        }
    }

    /** Abandons the archive if it has not ended. Any thread may call it. */
    @Override
    public void close() {
        feed.close();
        whenClosed.run();
    }
}
