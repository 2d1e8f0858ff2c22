package dozo.source.tree;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a look at an experiment's folder found.
 *
 * @param files regular ones
 * @param bytes in them
 * @param digest of all names, sizes and times of modification: another one, and something changed
 * @param newest when something in it changed last, by the file system's own word; null: nothing is in it
 * @param said what each evidence says
 * @param unreadable what cannot be read: nobody knows what it holds
 * @param remarks what is worth a word, and stands in nothing's way
 */
public record Observed(
        long files,
        long bytes,
        long digest,
        @Nullable Instant newest,
        List<Said> said,
        List<Reason> unreadable,
        List<Reason> remarks) {

    /** What one piece of evidence says of the folder. */
    public sealed interface Said {

        /** All that it knows of is there. */
        record Done(boolean marked) implements Said {}

        /** Something is missing. */
        record Lacking(List<Reason> reasons) implements Said {}

        /** It knows nothing. */
        record Silent() implements Said {}
    }

    /**
     * Why something is not complete, or what is worth a word.
     *
     * @param word in capitals
     * @param name what it is about
     */
    public record Reason(String word, String name, String message) {}

    public Observed {
        said = List.copyOf(said);
        unreadable = List.copyOf(unreadable);
        remarks = List.copyOf(remarks);
    }
}
