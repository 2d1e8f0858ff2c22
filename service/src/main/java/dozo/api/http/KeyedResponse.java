package dozo.api.http;

import dozo.api.http.KeptAnswers.Kept;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;

/** A response that is copied while it is written, as long as it is short enough to store. */
final class KeyedResponse extends HttpServletResponseWrapper {

    private final ByteArrayOutputStream copy = new ByteArrayOutputStream();
    private boolean whole = true;

    KeyedResponse(HttpServletResponse response) {
        super(response);
    }

    Kept kept() {
        return new Kept(getStatus(), getHeader("Location"), getContentType(), whole ? copy.toByteArray() : null);
    }

    @Override
    public ServletOutputStream getOutputStream() throws IOException {
        return new Copied(super.getOutputStream());
    }

    /** Returns the writer. NB: text written here is not stored; handlers' responses are written as bytes. */
    @Override
    public PrintWriter getWriter() throws IOException {
        whole = false;
        return super.getWriter();
    }

    @Override
    public void resetBuffer() {
        super.resetBuffer();
        copy.reset();
    }

    @Override
    public void reset() {
        super.reset();
        copy.reset();
    }

    private final class Copied extends ServletOutputStream {

        private final ServletOutputStream out;

        Copied(ServletOutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
            if (whole && copy.size() + length <= KeptAnswers.BODY_BYTES_MAX) {
                copy.write(bytes, offset, length);
            } else {
                whole = false;
                copy.reset();
            }
        }

        @Override
        public boolean isReady() {
            return out.isReady();
        }

        @Override
        public void setWriteListener(WriteListener listener) {
            out.setWriteListener(listener);
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}
