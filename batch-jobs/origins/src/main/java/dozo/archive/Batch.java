package dozo.archive;

import dozo.source.delivery.Upload;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.UUID;

/**
 * The bytes of some instances, or of one file, in a temporary file without a name, so that nothing of them is left if the process dies.
 * Safe for use by several threads at different places.
 */
final class Batch implements AutoCloseable {

    private static final int COPY_BYTES = 1 << 16;

    private final FileChannel file;
    private long appended;

    Batch() throws IOException {
        Path path = Files.createTempFile("dozo-", ".instances");
        file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        Files.delete(path);
    }

    void write(byte[] bytes, int from, int length, long offset) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(bytes, from, length);
        for (long at = offset; left.hasRemaining(); ) {
            at += file.write(left, at);
        }
    }

    /** Returns a stream that writes one byte after the other; used by one thread, and not closed. */
    OutputStream append() {
        return new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                write(new byte[] {(byte) one}, 0, 1);
            }

            @Override
            public void write(byte[] from, int offset, int count) throws IOException {
                Batch.this.write(from, offset, count, appended);
                appended += count;
            }
        };
    }

    /** Returns how many bytes were appended. */
    long sizeBytes() {
        return appended;
    }

    /** Returns what was appended as the body of a request. */
    Upload whole() {
        return new Upload() {
            @Override
            public String type() {
                return "application/octet-stream";
            }

            @Override
            public long lengthBytes() {
                return appended;
            }

            @Override
            public void writeTo(OutputStream out) throws IOException {
                read(0, appended).transferTo(out);
            }
        };
    }

    /** Returns a part of it; it is not closed by closing the stream. */
    InputStream read(long offset, long length) {
        return new InputStream() {
            private long at = offset;

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
            }

            @Override
            public int read(byte[] into, int from, int count) throws IOException {
                int most = (int) Math.min(count, offset + length - at);
                int read = most == 0 ? -1 : file.read(ByteBuffer.wrap(into, from, most), at);
                at += Math.max(0, read);
                return read;
            }
        };
    }

    /** Returns instances as the body of a request to store them. */
    Upload parts(List<Fetched> instances) {
        String boundary = UUID.randomUUID().toString();
        byte[] head = "--%s\r\nContent-Type: application/dicom\r\n\r\n"
                .formatted(boundary)
                .getBytes(StandardCharsets.US_ASCII);
        byte[] tail = "\r\n".getBytes(StandardCharsets.US_ASCII);
        byte[] end = "--%s--\r\n".formatted(boundary).getBytes(StandardCharsets.US_ASCII);
        long length = instances.stream()
                .mapToLong(each -> head.length + each.sizeBytes() + tail.length)
                .sum();
        return new Upload() {
            @Override
            public String type() {
                return "multipart/related; type=\"application/dicom\"; boundary=" + boundary;
            }

            @Override
            public long lengthBytes() {
                return length + end.length;
            }

            @Override
            public void writeTo(OutputStream out) throws IOException {
                byte[] buffer = new byte[COPY_BYTES];
                for (Fetched each : instances) {
                    out.write(head);
                    InputStream bytes = read(each.offset(), each.sizeBytes());
                    for (int n = bytes.read(buffer); n >= 0; n = bytes.read(buffer)) {
                        out.write(buffer, 0, n);
                    }
                    out.write(tail);
                }
                out.write(end);
            }
        };
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
