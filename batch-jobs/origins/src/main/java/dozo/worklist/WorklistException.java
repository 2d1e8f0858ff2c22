package dozo.worklist;

/** The worklist could not be read: who is asked does not answer, or not as it should. Nothing was kept of it. */
public final class WorklistException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    WorklistException(String message) {
        super(message);
    }

    WorklistException(String message, Throwable cause) {
        super(message, cause);
    }
}
