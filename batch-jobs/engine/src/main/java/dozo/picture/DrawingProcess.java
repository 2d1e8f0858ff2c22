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
 * The process of a {@link Drawing}: reads standard input to its end, and writes PNG, or the name of the reason why there is none,
 * to standard output. Its arguments are the length of the content and those of {@link #draw}.
 */
final class DrawingProcess {

    private static final int BEGINNING_BYTES = 512;
    private static final short GZIP = 0x1F8B;
    private static final String CTF = "MEG4";

    private DrawingProcess() {}

    public static void main(String[] arguments) throws IOException {
        byte[] content = new byte[Integer.parseInt(arguments[0])];
        // NB: the end comes only after the content was proven, so nothing else is decoded.
        if (System.in.readNBytes(content, 0, content.length) < content.length || System.in.read() != -1) {
            return;
        }
        ImageIO.setUseCache(false);
        try {
            ImageIO.write(
                    draw(content, Integer.parseInt(arguments[1]), arguments[2].equals("true")), "png", System.out);
        } catch (NoPicture e) {
            System.out.print(e.why());
        }
    }

    /**
     * Draws what the content shows.
     *
     * @param headerBytes how much of it is another file, which says what is in this one
     * @param cut whether it is only the beginning of a file
     */
    static BufferedImage draw(byte[] content, int headerBytes, boolean cut) throws NoPicture {
        try {
            ByteBuffer file = ByteBuffer.wrap(content);
            if (headerBytes > 0 && has(content, 0, CTF) && has(content, headerBytes, CTF)) {
                return CtfPicture.of(file.slice(0, headerBytes), file.slice(headerBytes, content.length - headerBytes))
                        .drawn();
            }
            if (content.length >= BEGINNING_BYTES && KitPicture.is(file.order(ByteOrder.LITTLE_ENDIAN))) {
                return KitPicture.of(file).drawn();
            }
            InputStream in = new ByteArrayInputStream(content);
            boolean packed = content.length > 2 && ByteBuffer.wrap(content).getShort(0) == GZIP;
            return draw(new BufferedInputStream(packed ? new GZIPInputStream(in) : in));
        } catch (NoPicture none) {
            throw cut && none.why() == Why.NO_IMAGE ? new NoPicture(Why.TOO_LARGE) : none;
        } catch (IOException | RuntimeException e) {
            // Hostile content reaches every check of the JDK, too.
            throw new NoPicture(cut ? Why.TOO_LARGE : Why.DAMAGED);
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
        if (ByteBuffer.wrap(beginning).getLong(0) == FiffPicture.BEGINNING) {
            return new FiffPicture(in).read().drawn();
        }
        throw new NoPicture(Why.UNKNOWN_FORMAT);
    }

    private static boolean has(byte[] bytes, int at, String text) {
        return new String(bytes, at, text.length(), StandardCharsets.ISO_8859_1).equals(text);
    }
}
