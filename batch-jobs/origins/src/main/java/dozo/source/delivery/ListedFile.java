package dozo.source.delivery;

import java.util.Collection;

/** A file that an origin lists. */
public interface ListedFile {

    /** Returns the origin's id, without white space or slashes. */
    String id();

    /** Returns a mark that changes when the origin has other bytes for the file; without white space or slashes. */
    String mark();

    /** Returns its size; negative if the origin does not say. */
    long sizeBytes();

    /** Returns the file as an item for a list of missing files or of remarks. */
    Item item(Trouble trouble, String message);

    /** Returns the sum of the listed sizes; files without one are not counted. */
    static long bytes(Collection<? extends ListedFile> files) {
        return files.stream().mapToLong(file -> Math.max(0, file.sizeBytes())).sum();
    }
}
