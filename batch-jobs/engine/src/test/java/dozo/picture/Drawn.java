package dozo.picture;

import java.util.Arrays;

/** Draws files in this process, for tests. */
final class Drawn {

    private Drawn() {}

    /** Returns the rows of a picture, from 0 (black) to 255, or why there is none. */
    static String of(byte[] content) {
        try {
            Picture picture = DrawingProcess.draw(content);
            int[][] rows = new int[picture.height()][picture.width()];
            for (int y = 0; y < rows.length; y++) {
                for (int x = 0; x < rows[y].length; x++) {
                    rows[y][x] = picture.at(x, y);
                }
            }
            return Arrays.deepToString(rows);
        } catch (NoPicture none) {
            return none.why().name();
        }
    }
}
