package dozo.source;

import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Is told what a {@link FileList} holds, in the list's order, by one thread. A list may name a folder after what lies in it, or not at
 * all, and nothing keeps it from naming something twice.
 */
public interface Listed {

    void entry(FilePath path, Facts facts) throws IOException, InterruptedException;

    /**
     * Something in the list that cannot be an entry. What it names may still be at the source: after a {@link Problem#UNPARSED} nobody
     * can say that something is gone because the list does not name it.
     *
     * @param line from 1; where lines end with a NUL, the record
     * @param path null where it is not known, or not below the source
     */
    void problem(long line, @Nullable FilePath path, Problem problem, String message)
            throws IOException, InterruptedException;
}
