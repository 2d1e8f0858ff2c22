package dozo.api.http;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.ContentDisposition;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;

/**
 * Sends a file of any length while it is read from the database. An incomplete file must not look complete: if the
 * content ends early, the connection is cut, which every client detects.
 */
public final class Download {

    private static final Logger LOG = LoggerFactory.getLogger(Download.class);

    /** A failure before this many bytes are written gives an ordinary problem response. */
    private static final int BUFFER_BYTES = 64 << 10;

    /** Writes the file. */
    @FunctionalInterface
    public interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    /** Thrown when a file has begun and cannot be finished. No other response is possible. */
    static final class BrokenOff extends RuntimeException {

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

    private static final class ToClient extends FilterOutputStream {

        ToClient(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            try {
                out.write(bytes, from, length);
            } catch (IOException e) {
                throw new ClientGone(e);
            }
        }
    }

    private Download() {}

    /**
     * Sends a file; for {@code HEAD} only the headers.
     *
     * @param fileName the name under which the browser saves the file, in ASCII
     */
    public static void send(
            HttpServletRequest request,
            HttpServletResponse response,
            MediaType type,
            String fileName,
            Content content) {
        response.setContentType(type.toString());
        response.setHeader(
                HttpHeaders.CONTENT_DISPOSITION,
                ContentDisposition.attachment().filename(fileName).build().toString());
        if (request.getMethod().equals("HEAD")) {
            return;
        }
        try {
            OutputStream out = new BufferedOutputStream(new ToClient(response.getOutputStream()), BUFFER_BYTES);
            content.writeTo(out);
            out.flush();
        } catch (ClientGone gone) {
            LOG.debug("the client of {} is gone", fileName, gone);
        } catch (UncheckedIOException e) {
            if (!(e.getCause() instanceof ClientGone)) {
                throw failure(response, fileName, e);
            }
            LOG.debug("the client of {} is gone", fileName, e);
        } catch (IOException e) {
            throw failure(response, fileName, new UncheckedIOException(e));
        } catch (RuntimeException e) {
            throw failure(response, fileName, e);
        }
    }

    private static RuntimeException failure(HttpServletResponse response, String fileName, RuntimeException failure) {
        if (!response.isCommitted()) {
            return failure;
        }
        LOG.error("the download {} was interrupted: the client sees that it is incomplete", fileName, failure);
        return new BrokenOff(failure);
    }
}
