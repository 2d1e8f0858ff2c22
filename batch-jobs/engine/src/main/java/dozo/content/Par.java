package dozo.content;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * PAR, the text beside the images (REC) of Philips scanners: a general part, a row of numbers for each image, and a last line
 * (as nibabel's parrec.py reads it). Fewer rows than planned are a scan that was stopped, which is healthy. The images are not
 * looked at.
 */
final class Par implements Format {

    private static final String FIRST_LINE = "# === DATA DESCRIPTION FILE ===";
    private static final String LAST_LINE = "# === END OF DATA DESCRIPTION FILE";

    @Override
    public @Nullable Check check(Beginning file) {
        return file.has(0, FIRST_LINE) ? new Lines() : null;
    }

    private static final class Lines extends Check {

        private static final int START_CHARACTERS = LAST_LINE.length();

        private final StringBuilder start = new StringBuilder();
        private long line = 1;
        private boolean between = true;
        private long values;
        private long images;
        private final Rows rows = new Rows();
        private boolean ended;

        Lines() {
            super("Philips PAR");
        }

        @Override
        void stream(ByteBuffer bytes) throws NotWhole {
            while (bytes.hasRemaining()) {
                byte value = bytes.get();
                if (!ended) {
                    take(value);
                }
            }
        }

        private void take(byte value) throws NotWhole {
            if (value == 0) {
                throw NotWhole.broken("line %,d has zeros in place of text".formatted(line));
            }
            if (value == '\n') {
                endLine();
                return;
            }
            boolean blank = value == ' ' || value == '\t' || value == '\r';
            values += between && !blank ? 1 : 0;
            between = blank;
            if (start.length() < START_CHARACTERS) {
                start.append((char) value);
                ended = start.length() == START_CHARACTERS && start.indexOf(LAST_LINE) == 0;
            }
        }

        private void endLine() {
            if (values > 0 && start.charAt(0) != '#' && start.charAt(0) != '.') {
                images++;
                rows.add(images, values);
            }
            line++;
            start.setLength(0);
            values = 0;
            between = true;
        }

        @Override
        void end(long left) throws NotWhole {
            if (!ended) {
                throw NotWhole.broken("it ends on line %,d, after the rows of %,d images, without its last line"
                        .formatted(line, images));
            }
            rows.judge("the row of image", "numbers");
        }
    }
}
