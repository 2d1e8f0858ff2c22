package dozo.collect;

import dozo.file.FilePath;
import dozo.registry.Acquisition;
import dozo.registry.Code;
import dozo.source.tree.Completeness.Seen;
import org.jspecify.annotations.Nullable;

/**
 * What an origin tells of one item, as far as it is known.
 *
 * @param item what it is for ever, 1 to 128 characters; labels are not
 * @param theirs the id of the origin's own project that it is in; null: it is in none
 * @param code proposed for its experiment: opaque, made of the id, and never of what people wrote
 * @param title proposed for its experiment: cut off and on one line, whatever is given
 * @param files null: not told without asking for more
 * @param bytes null: not told without asking for more
 * @param place where it lies; null: of a kind whose items are brought
 */
public record Offer(
        String item,
        @Nullable String theirs,
        String code,
        String title,
        Acquisition acquisition,
        @Nullable Long files,
        @Nullable Long bytes,
        @Nullable Folder place) {

    private static final int TITLE_LENGTH_MAX = 200;

    /**
     * Where an item of a file tree lies.
     *
     * @param seen what was seen in it at the last look into it; null: nobody looked
     */
    record Folder(
            FilePath path,
            long inode,
            @Nullable Long bornNanos,
            @Nullable Seen seen) {

        Folder with(@Nullable Seen now) {
            return new Folder(path, inode, bornNanos, now);
        }
    }

    public Offer {
        title = line(title);
    }

    /** Of an item that is brought. */
    public Offer(
            String item,
            @Nullable String theirs,
            String code,
            String title,
            Acquisition acquisition,
            @Nullable Long files,
            @Nullable Long bytes) {
        this(item, theirs, code, title, acquisition, files, bytes, null);
    }

    private static String line(String text) {
        StringBuilder line = new StringBuilder();
        text.codePoints()
                .limit(TITLE_LENGTH_MAX)
                .mapToObj(Character::toString)
                .map(each -> Code.isText(each) ? each : " ")
                .takeWhile(each -> line.length() + each.length() <= TITLE_LENGTH_MAX)
                .forEachOrdered(line::append);
        return line.toString().strip();
    }
}
