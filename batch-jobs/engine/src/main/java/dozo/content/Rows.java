package dozo.content;

/** How wide the rows of a table are: all should be as wide as the first. */
final class Rows {

    private long widthWanted;

    /** The first row that differs, or 0, and its width. */
    private long odd;

    private long oddWidth;

    /** Takes the next row, by its number for people and the number of its cells, both from 1. */
    void add(long number, long width) {
        if (widthWanted == 0) {
            widthWanted = width;
        } else if (width != widthWanted && odd == 0) {
            odd = number;
            oddWidth = width;
        }
    }

    /** Judges after the last row, in the format's words for a row and for its cells. */
    void judge(String row, String cells) throws NotWhole {
        if (odd > 0) {
            throw NotWhole.suspect(
                    "%s %,d has %,d %s, the first one has %,d".formatted(row, odd, oddWidth, cells, widthWanted));
        }
    }
}
