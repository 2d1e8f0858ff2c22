package dozo.source;

import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Receives the content of a {@link FileList}, in the list's order, from one thread. A list may contain a folder after
 * its content, or not at all, and may contain an entry twice.
 */
public interface Listed {

    void entry(FilePath path, Facts facts) throws IOException, InterruptedException;

    /**
     * Receives something in the list that cannot be an entry. It may still exist at the source: after a
     * {@link Problem#UNPARSED} nobody can conclude that something is gone because it is not in the list.
     *
     * @param line from 1; if lines end with a NUL, the record
     * @param path null if it is unknown or not below the source
     */
    void problem(long line, @Nullable FilePath path, Problem problem, String message)
            throws IOException, InterruptedException;
}
