package dozo.source.tree;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a look at an experiment's folder.
 *
 * @param files how many regular files there are
 * @param bytes their total size
 * @param digest of all names, sizes and modification times; it differs if something changed
 * @param newest the time of the last change, by the file system's clock; null if the folder is empty
 * @param said what each piece of evidence says
 * @param unreadable what cannot be read; its content is unknown
 * @param remarks what is worth noting but does not prevent completeness
 */
public record Observed(
        long files,
        long bytes,
        long digest,
        @Nullable Instant newest,
        List<Said> said,
        List<Reason> unreadable,
        List<Reason> remarks) {

    /** What one piece of evidence says about the folder. */
    public sealed interface Said {

        /** Everything that it knows of is there. */
        record Done(boolean marked) implements Said {}

        /** Something is missing. */
        record Lacking(List<Reason> reasons) implements Said {}

        /** It says nothing. */
        record Silent() implements Said {}
    }

    /**
     * Why something is not complete, or a remark.
     *
     * @param word a code in capital letters
     * @param name of the file, series or folder concerned
     */
    public record Reason(String word, String name, String message) {}

    public Observed {
        said = List.copyOf(said);
        unreadable = List.copyOf(unreadable);
        remarks = List.copyOf(remarks);
    }
}
