package dozo.send;

import dozo.file.Entry;
import dozo.file.Problem;
import dozo.send.Outcome.Failed;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** The source cannot be used as the manifest describes it. */
class SourceProblem extends Exception {

    private static final long serialVersionUID = 1L;

    private final Problem problem;
    private final boolean ofSource;

    /** The source is slow, and the caller does not wait for it. */
    static final class Slow extends SourceProblem {

        private static final long serialVersionUID = 1L;

        Slow(String name) {
            super(Problem.UNREADABLE, name + ": the source is slow");
        }
    }

    SourceProblem(Problem problem, String message) {
        this(problem, message, false);
    }

    private SourceProblem(Problem problem, String message, boolean ofSource) {
        super(message);
        this.problem = problem;
        this.ofSource = ofSource;
    }

    /** Returns a problem of the whole source. */
    static SourceProblem ofSource(Problem problem, String message) {
        return new SourceProblem(problem, message, true);
    }

    /** Returns the problem that a file is not the one that the manifest describes. */
    static SourceProblem replaced(Entry sealed) {
        return new SourceProblem(
                Problem.CHANGED,
                sealed.path() + ": changed since the manifest was sealed; the next run sends the new content");
    }

    /** Returns the problem of a file that could not be opened or read. */
    static SourceProblem unreadable(String name, IOException cause) {
        if (cause instanceof NoSuchFileException) {
            return new SourceProblem(Problem.VANISHED, name + ": gone since the manifest was sealed");
        }
        String why = cause instanceof AccessDeniedException
                ? "permission denied; let the service's user read it"
                : cause instanceof FileSystemException system && system.getReason() != null
                        ? system.getReason()
                        : String.valueOf(cause.getMessage());
        return new SourceProblem(Problem.UNREADABLE, name + ": cannot be read: " + why);
    }

    /** Returns the failure of an entry for this reason. */
    Failed failed(Entry entry) {
        return new Failed(entry, problem, String.valueOf(getMessage()), ofSource);
    }
}
