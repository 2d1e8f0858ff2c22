package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.OutputStream;
import javax.imageio.ImageIO;

/** A grey picture of at most {@value #SHOWN_MAX} points a side. */
final class Picture {

    static final int SHOWN_MAX = 1_024;

    private static final int WHITE = 255;

    private final int width;
    private final int height;

    /** Row by row from the top; 0 is black. */
    private final byte[] grey;

    /** The values of an image. */
    interface Values {
        /** Returns a value; not finite: drawn black. */
        double at(int x, int y);
    }

    /** Creates a black one. */
    Picture(int width, int height) {
        this.width = width;
        this.height = height;
        grey = new byte[width * height];
    }

    /** Draws values from the lowest one in black to the highest one in white. Of a large image, every second point, and so on. */
    static Picture of(int width, int height, Values values) throws NoPicture {
        Shown shown = new Shown(width, height, values);
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        for (int y = 0; y < shown.height(); y++) {
            for (int x = 0; x < shown.width(); x++) {
                double value = shown.at(x, y);
                if (Double.isFinite(value)) {
                    low = Math.min(low, value);
                    high = Math.max(high, value);
                }
            }
        }
        return shown.drawn(low, high);
    }

    /** Draws values, those up to {@code low} in black and those from {@code high} in white. */
    static Picture of(int width, int height, Values values, double low, double high) throws NoPicture {
        return new Shown(width, height, values).drawn(low, high);
    }

    /** The points that are shown. */
    private static final class Shown {

        private final Values values;
        private final int step;
        private final int width;
        private final int height;

        Shown(int width, int height, Values values) throws NoPicture {
            checkSides(width, height);
            this.values = values;
            step = Math.ceilDiv(Math.max(width, height), SHOWN_MAX);
            this.width = Math.ceilDiv(width, step);
            this.height = Math.ceilDiv(height, step);
        }

        int width() {
            return width;
        }

        int height() {
            return height;
        }

        double at(int x, int y) {
            return values.at(x * step, y * step);
        }

        Picture drawn(double low, double high) {
            Picture drawn = new Picture(width, height);
            for (int y = 0; y < height; y++) {
                for (int x = 0; x < width; x++) {
                    double value = at(x, y);
                    // NB: infinite and undefined values, and a range of nothing, are black.
                    double share = (value - low) / (high - low);
                    drawn.set(x, y, Double.isFinite(share) ? (int) (Math.clamp(share, 0, 1) * WHITE) : 0);
                }
            }
            return drawn;
        }
    }

    /** Checks the sides of an image. */
    static void checkSides(long width, long height) throws NoPicture {
        if (width < 1 || height < 1) {
            throw new NoPicture(Why.NO_IMAGE);
        }
        if (width > Drawing.SIDE_MAX || height > Drawing.SIDE_MAX) {
            throw new NoPicture(Why.TOO_LARGE);
        }
    }

    /** Sets a point, from 0 (black) to 255. */
    void set(int x, int y, int value) {
        grey[y * width + x] = (byte) value;
    }

    int at(int x, int y) {
        return Byte.toUnsignedInt(grey[y * width + x]);
    }

    int width() {
        return width;
    }

    int height() {
        return height;
    }

    /** Writes it as PNG. */
    void writeTo(OutputStream out) throws IOException {
        ImageIO.setUseCache(false);
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_BYTE_GRAY);
        image.getRaster().setDataElements(0, 0, width, height, grey);
        if (!ImageIO.write(image, "png", out)) {
            throw new IOException("this Java writes no PNG");
        }
    }
}
