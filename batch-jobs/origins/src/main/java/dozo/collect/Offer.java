package dozo.collect;

import dozo.file.FilePath;
import dozo.registry.Acquisition;
import dozo.registry.Code;
import dozo.source.tree.Completeness.Seen;
import org.jspecify.annotations.Nullable;

/**
 * What an origin lists of one item, as far as known.
 *
 * @param item its permanent id, 1 to 128 characters; labels are not permanent
 * @param theirs the id of the origin's own project that contains it; null if there is none
 * @param code proposed for its experiment: opaque, made of the id, never of text that people wrote
 * @param title proposed for its experiment; any text is cut off and put on one line
 * @param files null if not listed without further requests
 * @param bytes null if not listed without further requests
 * @param place its folder; null for kinds whose items are delivered into a spool
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
     * Where an item of a file tree is.
     *
     * @param seen what the last look into it found; null if there was none
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

    Offer with(Acquisition seen, long filesSeen, long bytesSeen, @Nullable Folder at) {
        return new Offer(item, theirs, code, title, seen, filesSeen, bytesSeen, at);
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
