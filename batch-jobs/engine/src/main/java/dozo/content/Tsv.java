package dozo.content;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Tables of text, by the name's ending {@code .tsv} (Brain Imaging Data Structure 1.10, common principles). All lines should have
 * as many columns as the first; healthy files differ, so this is only suspect. The last line need not end. A cut between two
 * lines is invisible.
 */
final class Tsv implements Format {

    @Override
    public @Nullable Check check(Beginning file) {
        boolean table = file.isNamed(".tsv") && file.reaches(1);
        return table && !isUtf16(file) && !isPlaceholder(file) ? new Lines() : null;
    }

    /** Pointers of Git LFS and git-annex and pages of web servers are not the table, but would look like one of one column. */
    private static boolean isPlaceholder(Beginning file) {
        return file.has(0, "version https://git-lfs") || file.has(0, "/annex/objects/") || file.has(0, "<");
    }

    /** Some programs for tables write UTF-16, in which every other byte of English is NUL. */
    private static boolean isUtf16(Beginning file) {
        boolean mark = file.has(0, "\u00FF\u00FE") || file.has(0, "\u00FE\u00FF");
        return mark
                || (file.reaches(2)
                        && (file.bytes().get(0) == 0) != (file.bytes().get(1) == 0));
    }

    private static final class Lines extends Check {

        private long line = 1;
        private boolean empty = true;
        private long columns = 1;
        private final Rows rows = new Rows();
        private boolean zero;

        Lines() {
            super("TSV");
        }

        @Override
        void stream(ByteBuffer bytes) throws NotWhole {
            while (bytes.hasRemaining()) {
                byte value = bytes.get();
                if (zero) {
                    throw NotWhole.broken("line %,d has zeros in place of text".formatted(line));
                }
                switch (value) {
                    case '\n' -> endLine();
                    case '\t' -> {
                        empty = false;
                        columns++;
                    }
                    case '\r' -> {}
                    default -> {
                        empty = false;
                        zero = value == 0;
                    }
                }
            }
        }

        private void endLine() {
            if (!empty) {
                rows.add(line, columns);
            }
            line++;
            columns = 1;
            empty = true;
        }

        @Override
        void end(long left) throws NotWhole {
            endLine();
            if (zero) {
                // Some programs write the zero that ends text in memory, too.
                throw NotWhole.suspect("its last byte is zero");
            }
            rows.judge("line", "columns");
        }
    }
}
