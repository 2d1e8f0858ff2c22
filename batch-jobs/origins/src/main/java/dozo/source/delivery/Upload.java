package dozo.source.delivery;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** The body of a request. */
public interface Upload {

    /** Returns its Content-Type; empty for none. */
    String type();

    long lengthBytes();

    /** Writes it. A request that is repeated writes it again. */
    void writeTo(OutputStream out) throws IOException;

    /** Returns a text as a body. */
    static Upload of(String text) {
        return of("text/plain; charset=UTF-8", text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns bytes as a body. */
    static Upload of(String type, byte[] bytes) {
        return new Upload() {
            @Override
            public String type() {
                return type;
            }

            @Override
            public long lengthBytes() {
                return bytes.length;
            }

            @Override
            public void writeTo(OutputStream out) throws IOException {
                out.write(bytes);
            }
        };
    }
}
