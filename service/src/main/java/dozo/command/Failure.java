package dozo.command;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Why a command ends early, in a line for people, and the exit code. */
public final class Failure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int exitCode;
    private final String said;
    private final String hint;
    private final transient @Nullable JsonNode problem;

    public Failure(int exitCode, String message) {
        this(exitCode, message, "", null);
    }

    /**
     * Creates a failure with more for people and programs.
     *
     * @param hint a sentence, without its point, about what may help; empty: nothing is known
     * @param problem what REST answered; null: nothing
     */
    Failure(int exitCode, String message, String hint, @Nullable JsonNode problem) {
        super(hint.isEmpty() ? message : message + ". " + hint);
        this.exitCode = exitCode;
        this.said = message;
        this.hint = hint;
        this.problem = problem;
    }

    int exitCode() {
        return exitCode;
    }

    /** Returns the message without the hint. */
    String said() {
        return said;
    }

    String hint() {
        return hint;
    }

    @Nullable
    JsonNode problem() {
        return problem;
    }
}
