package dozo.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.ContentDisposition;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;

/**
 * Sends a file of any length while it is read. An incomplete file must not look complete: if the content ends early,
 * the connection is cut, which every client detects.
 *
 * @param fileName the name under which the browser saves the file
 * @param sizeBytes null: not known before the end
 */
public record Download(
        MediaType type, String fileName, @Nullable Long sizeBytes) {

    private static final Logger LOG = LoggerFactory.getLogger(Download.class);

    /** A failure before this many bytes are written gives an ordinary response. */
    private static final int BUFFER_BYTES = 64 << 10;

    /** Writes the file. */
    @FunctionalInterface
    public interface Content {
        /** Writes all of it. */
        void writeTo(OutputStream out) throws IOException;
    }

    /** Thrown when a file has begun and cannot be finished. No other response is possible. */
    public static final class BrokenOff extends RuntimeException {

        private static final long serialVersionUID = 1L;

        BrokenOff(Exception cause) {
            super("a download was interrupted", cause);
        }
    }

    private static final class ClientGone extends IOException {

        private static final long serialVersionUID = 1L;

        ClientGone(IOException cause) {
            super(cause);
        }
    }

    /** Creates a download of unknown size. */
    public Download(MediaType type, String fileName) {
        this(type, fileName, null);
    }

    /** Sends the file; for {@code HEAD} only the headers. A failure before anything was sent is thrown as it is. */
    public void send(HttpServletRequest request, HttpServletResponse response, Content content) {
        if (request.getMethod().equals("HEAD")) {
            announce(response);
            return;
        }
        try {
            OutputStream out = new BufferedOutputStream(new Body(response), BUFFER_BYTES);
            content.writeTo(out);
            out.flush();
        } catch (ClientGone gone) {
            LOG.debug("the client of {} is gone", request.getRequestURI(), gone);
        } catch (UncheckedIOException e) {
            if (!(e.getCause() instanceof ClientGone)) {
                throw failure(request, response, e);
            }
            LOG.debug("the client of {} is gone", request.getRequestURI(), e);
        } catch (IOException e) {
            throw failure(request, response, new UncheckedIOException(e));
        } catch (RuntimeException e) {
            throw failure(request, response, e);
        }
    }

    private void announce(HttpServletResponse response) {
        response.setContentType(type.toString());
        boolean ascii = StandardCharsets.US_ASCII.newEncoder().canEncode(fileName);
        response.setHeader(
                HttpHeaders.CONTENT_DISPOSITION,
                ContentDisposition.attachment()
                        .filename(fileName, ascii ? StandardCharsets.US_ASCII : StandardCharsets.UTF_8)
                        .build()
                        .toString());
        if (sizeBytes != null) {
            response.setContentLengthLong(sizeBytes);
        }
    }

    private static RuntimeException failure(
            HttpServletRequest request, HttpServletResponse response, RuntimeException failure) {
        if (!response.isCommitted()) {
            return failure;
        }
        // Without the file's name, which may contain a person's.
        LOG.error("{} was interrupted: the client sees that it is incomplete", request.getRequestURI(), failure);
        return new BrokenOff(failure);
    }

    /** The response's body. Its headers are set with the first bytes: until then, another response is possible. */
    private final class Body extends OutputStream {

        private final HttpServletResponse response;
        private @Nullable OutputStream out;

        Body(HttpServletResponse response) {
            this.response = response;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            try {
                begun().write(bytes, from, length);
            } catch (IOException e) {
                throw new ClientGone(e);
            }
        }

        @Override
        public void flush() throws IOException {
            // An empty file has headers, too.
            var _ = begun();
        }

        private OutputStream begun() throws IOException {
            if (out == null) {
                announce(response);
                out = response.getOutputStream();
            }
            return out;
        }
    }
}
