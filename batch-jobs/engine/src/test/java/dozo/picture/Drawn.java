package dozo.picture;

import java.awt.image.Raster;
import java.util.Arrays;

/** Draws files in this process, for tests. */
final class Drawn {

    private Drawn() {}

    /** Returns the rows of a picture, from 0 (black) to 255, or why there is none. */
    static String of(byte[] content) {
        try {
            Raster picture = DrawingProcess.draw(content, 0, false).getRaster();
            int[][] rows = new int[picture.getHeight()][];
            for (int y = 0; y < rows.length; y++) {
                rows[y] = picture.getSamples(0, y, picture.getWidth(), 1, 0, (int[]) null);
            }
            return Arrays.deepToString(rows);
        } catch (NoPicture none) {
            return none.why().name();
        }
    }
}
