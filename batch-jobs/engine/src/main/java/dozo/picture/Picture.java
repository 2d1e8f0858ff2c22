package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.awt.image.BufferedImage;

/** Values as a grey picture of at most {@value #SHOWN_MAX} points a side. */
final class Picture {

    static final int SHOWN_MAX = 1_024;

    private static final int WHITE = 255;

    private Picture() {}

    /** The values of an image. */
    interface Values {
        /** Returns a value; not finite: drawn black. */
        double at(int x, int y);
    }

    /** Draws values from the lowest one in black to the highest one in white. Of a large image, every second point, and so on. */
    static BufferedImage of(int width, int height, Values values) throws NoPicture {
        checkSides(width, height);
        int step = step(width, height);
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        for (int y = 0; y < height; y += step) {
            for (int x = 0; x < width; x += step) {
                double value = values.at(x, y);
                if (Double.isFinite(value)) {
                    low = Math.min(low, value);
                    high = Math.max(high, value);
                }
            }
        }
        return of(width, height, values, low, high);
    }

    /** Draws values, those up to {@code low} in black and those from {@code high} in white. */
    static BufferedImage of(int width, int height, Values values, double low, double high) throws NoPicture {
        checkSides(width, height);
        int step = step(width, height);
        BufferedImage drawn =
                new BufferedImage(Math.ceilDiv(width, step), Math.ceilDiv(height, step), BufferedImage.TYPE_BYTE_GRAY);
        for (int y = 0; y < drawn.getHeight(); y++) {
            for (int x = 0; x < drawn.getWidth(); x++) {
                // NB: of undefined values and of a range of nothing it is not finite.
                double share = (values.at(x * step, y * step) - low) / (high - low);
                int grey = Double.isFinite(share) ? (int) (Math.clamp(share, 0, 1) * WHITE) : 0;
                drawn.getRaster().setSample(x, y, 0, grey);
            }
        }
        return drawn;
    }

    private static int step(int width, int height) {
        return Math.ceilDiv(Math.max(width, height), SHOWN_MAX);
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
}
