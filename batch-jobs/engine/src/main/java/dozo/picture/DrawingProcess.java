package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.GZIPInputStream;

/**
 * The process of a {@link Drawing}: reads a file from standard input to its end, whose length is the argument, and writes PNG to
 * standard output. The exit code says why it has written none.
 */
final class DrawingProcess {

    private static final int BEGINNING_BYTES = 512;
    private static final int GZIP = 0x1F8B;

    private DrawingProcess() {}

    public static void main(String[] arguments) throws IOException {
        byte[] content = new byte[Integer.parseInt(arguments[0])];
        // NB: the end comes only after the content was proven, so nothing else is decoded.
        int read = System.in.readNBytes(content, 0, content.length);
        if (read < content.length || System.in.read() != -1) {
            System.exit(Why.UNFINISHED.exitCode());
        }
        try {
            Picture picture = draw(content);
            picture.writeTo(System.out);
            System.out.flush();
        } catch (NoPicture e) {
            System.exit(e.why().exitCode());
        }
        System.exit(System.out.checkError() ? Why.UNFINISHED.exitCode() : 0);
    }

    /** Draws what the content shows. */
    static Picture draw(byte[] content) throws NoPicture {
        try {
            InputStream in = new ByteArrayInputStream(content);
            if (content.length > 2 && ByteBuffer.wrap(content).getShort(0) == (short) GZIP) {
                in = new GZIPInputStream(in);
            }
            return draw(new BufferedInputStream(in));
        } catch (IOException | RuntimeException e) {
            // Hostile content reaches every check of the JDK, too.
            throw new NoPicture(Why.DAMAGED);
        }
    }

    private static Picture draw(BufferedInputStream in) throws IOException, NoPicture {
        in.mark(BEGINNING_BYTES);
        byte[] beginning = new byte[BEGINNING_BYTES];
        in.readNBytes(beginning, 0, BEGINNING_BYTES);
        in.reset();
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            int first = ByteBuffer.wrap(beginning).order(order).getInt(0);
            if (first == NiftiPicture.HEADER_1_BYTES && has(beginning, 344, "n+1\0")) {
                return NiftiPicture.of(in, true, order);
            }
            if (first == NiftiPicture.HEADER_2_BYTES && has(beginning, 4, "n+2\0")) {
                return NiftiPicture.of(in, false, order);
            }
        }
        if (has(beginning, 128, "DICM")) {
            return DicomPicture.of(in);
        }
        if (ByteBuffer.wrap(beginning).getLong(0) == FiffPicture.BEGINNING) {
            return FiffPicture.of(in);
        }
        throw new NoPicture(Why.UNKNOWN_FORMAT);
    }

    private static boolean has(byte[] bytes, int at, String text) {
        for (int i = 0; i < text.length(); i++) {
            if (bytes[at + i] != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
