package dozo.file;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Bytes that are written once and then read as often as wanted: up to {@value #MEMORY_BYTES} of them in memory, more in
 * a file in the system's folder for temporary files ({@code java.io.tmpdir}). The file's name is removed as soon as it
 * is open, so that nothing is left if the process dies. Not thread-safe; read only after everything is written.
 */
public final class Spool extends OutputStream {

    static final int MEMORY_BYTES = 2 << 20;

    private byte[] memory = new byte[1 << 10];
    private int inMemory;
    private long length;
    private @Nullable FileChannel file;

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
        length += count;
        if (file == null && inMemory + count <= MEMORY_BYTES) {
            if (inMemory + count > memory.length) {
                memory = Arrays.copyOf(memory, Math.max(2 * memory.length, inMemory + count));
            }
            System.arraycopy(bytes, offset, memory, inMemory, count);
            inMemory += count;
            return;
        }
        FileChannel overflow = file == null ? open() : file;
        file = overflow;
        for (ByteBuffer left = ByteBuffer.wrap(bytes, offset, count); left.hasRemaining(); ) {
            overflow.write(left);
        }
    }

    /** Returns how many bytes from elsewhere may be written: half of what is free for temporary files, or what fits in memory. */
    public static long roomBytes() throws IOException {
        FileStore disk = Files.getFileStore(Path.of(System.getProperty("java.io.tmpdir")));
        return Math.max(MEMORY_BYTES, disk.getUsableSpace() / 2);
    }

    /** Returns the number of bytes written. */
    public long length() {
        return length;
    }

    /** Returns everything written, from the first byte on. */
    public InputStream read() {
        return new Reader();
    }

    /** Discards everything. */
    @Override
    public void close() {
        memory = new byte[0];
        inMemory = 0;
        FileChannel overflow = file;
        file = null;
        if (overflow != null) {
            try {
                overflow.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static FileChannel open() throws IOException {
        Path path = Files.createTempFile("dozo-", ".spool");
        FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Files.delete(path);
        return file;
    }

    private final class Reader extends InputStream {

        private long at;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] into, int offset, int count) throws IOException {
            int read = at < inMemory ? fromMemory(into, offset, count) : fromFile(ByteBuffer.wrap(into, offset, count));
            at += Math.max(0, read);
            return read;
        }

        private int fromMemory(byte[] into, int offset, int count) {
            int read = (int) Math.min(count, inMemory - at);
            System.arraycopy(memory, (int) at, into, offset, read);
            return read;
        }

        private int fromFile(ByteBuffer into) throws IOException {
            FileChannel overflow = file;
            return overflow == null ? -1 : overflow.read(into, at - inMemory);
        }
    }
}
