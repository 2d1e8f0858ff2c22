package dozo.source.dicomweb;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The parts of a multipart answer (RFC 2046), read one after the other; each part ends like a stream. Holds 64 KiB.
 */
final class Multipart extends InputStream {

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int HEADERS_BYTES_MAX = 1 << 13;
    private static final Pattern BOUNDARY =
            Pattern.compile("(?i)multipart/related;.*?boundary=(?:\"([^\"]{1,70})\"|([^\";,\\s]{1,70})).*");

    private final InputStream in;
    private final byte[] delimiter;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int start;
    private int end;
    private boolean inPart;

    private Multipart(InputStream in, String boundary) {
        this.in = in;
        this.delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.US_ASCII);
        // The first boundary may have no CRLF before it; this one completes it, as if an empty part came first.
        buffer[0] = '\r';
        buffer[1] = '\n';
        end = 2;
        inPart = true;
    }

    /**
     * Opens the answer with this Content-Type.
     *
     * @throws DeliveryException if the answer is not multipart
     */
    static Multipart of(String contentType, InputStream in) throws DeliveryException {
        Matcher matcher = BOUNDARY.matcher(contentType);
        if (!matcher.matches()) {
            throw new DeliveryException(Trouble.UNPARSED, "the answer is not multipart");
        }
        return new Multipart(in, matcher.group(1) == null ? matcher.group(2) : matcher.group(1));
    }

    /** Skips the rest of the current part and moves to the next; returns whether there is one. */
    boolean next() throws IOException {
        byte[] over = new byte[BUFFER_BYTES];
        while (inPart && read(over) >= 0) {
            // Skips the preamble, or the unread rest of a part.
        }
        if (stands('-', '-')) {
            return false;
        }
        // Skips the rest of the boundary's line, the headers and the empty line.
        for (int taken = 0; takeByte() != '\n' || !stands('\r', '\n'); taken++) {
            if (taken > HEADERS_BYTES_MAX) {
                throw new DeliveryException(Trouble.UNPARSED, "the headers of a part are longer than their limit");
            }
        }
        inPart = true;
        return true;
    }

    /** Returns whether these two characters come next, and consumes them if so. */
    private boolean stands(char first, char second) throws IOException {
        need(2);
        if (buffer[start] == first && buffer[start + 1] == second) {
            start += 2;
            return true;
        }
        return false;
    }

    /** Reads some of the part's bytes; returns -1 at its end. */
    @Override
    public int read(byte[] into, int offset, int most) throws IOException {
        if (!inPart) {
            return -1;
        }
        need(delimiter.length);
        int found = find();
        if (found == start) {
            start += delimiter.length;
            inPart = false;
            return -1;
        }
        int length = Math.min(most, found - start);
        System.arraycopy(buffer, start, into, offset, length);
        start += length;
        return length;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    /** Returns where the next delimiter begins or may begin. */
    private int find() {
        int last = end - delimiter.length;
        for (int at = start; at <= last; at++) {
            if (buffer[at] == '\r'
                    && Arrays.equals(buffer, at, at + delimiter.length, delimiter, 0, delimiter.length)) {
                return at;
            }
        }
        return last + 1;
    }

    private int takeByte() throws IOException {
        need(1);
        return buffer[start++];
    }

    private void need(int bytes) throws IOException {
        if (end - start >= bytes) {
            return;
        }
        System.arraycopy(buffer, start, buffer, 0, end - start);
        end -= start;
        start = 0;
        while (end < bytes) {
            int n = in.read(buffer, end, buffer.length - end);
            if (n < 0) {
                throw new DeliveryException(Trouble.DROPPED, "the answer ends before its last boundary");
            }
            end += n;
        }
    }
}
