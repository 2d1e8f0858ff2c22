package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.awt.image.BufferedImage;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;
import javax.imageio.ImageIO;

/**
 * The process of a {@link Drawing}: reads a file from standard input to its end, whose length is the argument, and writes PNG, or
 * the name of the reason why there is none, to standard output.
 */
final class DrawingProcess {

    private static final int BEGINNING_BYTES = 512;
    private static final short GZIP = 0x1F8B;

    private DrawingProcess() {}

    public static void main(String[] arguments) throws IOException {
        byte[] content = new byte[Integer.parseInt(arguments[0])];
        // NB: the end comes only after the content was proven, so nothing else is decoded.
        if (System.in.readNBytes(content, 0, content.length) < content.length || System.in.read() != -1) {
            return;
        }
        ImageIO.setUseCache(false);
        try {
            ImageIO.write(draw(content), "png", System.out);
        } catch (NoPicture e) {
            System.out.print(e.why());
        }
    }

    /** Draws what the content shows. */
    static BufferedImage draw(byte[] content) throws NoPicture {
        try {
            InputStream in = new ByteArrayInputStream(content);
            boolean packed = content.length > 2 && ByteBuffer.wrap(content).getShort(0) == GZIP;
            return draw(new BufferedInputStream(packed ? new GZIPInputStream(in) : in));
        } catch (IOException | RuntimeException e) {
            // Hostile content reaches every check of the JDK, too.
            throw new NoPicture(Why.DAMAGED);
        }
    }

    private static BufferedImage draw(InputStream in) throws IOException, NoPicture {
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
        throw new NoPicture(Why.UNKNOWN_FORMAT);
    }

    private static boolean has(byte[] bytes, int at, String text) {
        return new String(bytes, at, text.length(), StandardCharsets.ISO_8859_1).equals(text);
    }
}
