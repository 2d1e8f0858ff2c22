package dozo.worklist;

/** The worklist could not be read: the server does not answer, or returns an invalid answer. Nothing was stored. */
public final class WorklistException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    WorklistException(String message) {
        super(message);
    }

    WorklistException(String message, Throwable cause) {
        super(message, cause);
    }
}
