package dozo.api.http;

import dozo.file.Digest;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/** A request whose body is read once for its digest, and again by its handler. In between, the body is in a file. */
final class KeyedRequest extends HttpServletRequestWrapper implements AutoCloseable {

    /** Slightly more than the longest file of registrations, so that a longer file is refused with its own reason. */
    private static final long BODY_BYTES_MAX = 33L * 1024 * 1024;

    private static final int BLOCK_BYTES = 64 * 1024;

    private @Nullable Path body;

    KeyedRequest(HttpServletRequest request) {
        super(request);
    }

    /**
     * Returns the digest of the request's method, path, query and body.
     *
     * @throws TooLong if the body is longer than any accepted body
     */
    Digest digest() throws IOException {
        MessageDigest digest = Digest.algorithm();
        String head =
                "%s %s?%s\n".formatted(getMethod(), getRequestURI(), getQueryString() == null ? "" : getQueryString());
        digest.update(head.getBytes(StandardCharsets.UTF_8));
        Path file = Files.createTempFile("dozo-request", null);
        body = file;
        byte[] block = new byte[BLOCK_BYTES];
        long length = 0;
        try (InputStream in = super.getInputStream();
                OutputStream out = Files.newOutputStream(file)) {
            for (int read = in.read(block); read >= 0; read = in.read(block)) {
                length += read;
                if (length > BODY_BYTES_MAX) {
                    throw new TooLong(BODY_BYTES_MAX);
                }
                digest.update(block, 0, read);
                out.write(block, 0, read);
            }
        }
        return Digest.of(digest.digest());
    }

    @Override
    public ServletInputStream getInputStream() throws IOException {
        return body == null ? super.getInputStream() : new Again(new BufferedInputStream(Files.newInputStream(body)));
    }

    @Override
    public BufferedReader getReader() throws IOException {
        String charset = getCharacterEncoding();
        return new BufferedReader(new InputStreamReader(
                getInputStream(), charset == null ? StandardCharsets.UTF_8 : Charset.forName(charset)));
    }

    @Override
    public void close() throws IOException {
        if (body != null) {
            Files.delete(body);
        }
    }

    private static final class Again extends ServletInputStream {

        private final InputStream body;
        private boolean finished;

        Again(InputStream body) {
            this.body = body;
        }

        @Override
        public int read() throws IOException {
            int read = body.read();
            finished |= read < 0;
            return read;
        }

        @Override
        public int read(byte[] into, int offset, int length) throws IOException {
            int read = body.read(into, offset, length);
            finished |= read < 0;
            return read;
        }

        @Override
        public boolean isFinished() {
            return finished;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new UnsupportedOperationException("handlers here wait for what they read");
        }

        @Override
        public void close() throws IOException {
            body.close();
        }
    }
}
