package dozo.source.dicomweb;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A request that brought no good answer. The message has nothing in it that the server said: that could be a patient's. */
public final class DicomwebException extends IOException {

    private static final long serialVersionUID = 1L;

    private final Trouble trouble;

    DicomwebException(Trouble trouble, String message) {
        this(trouble, message, null);
    }

    DicomwebException(Trouble trouble, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.trouble = trouble;
    }

    static DicomwebException spoolFails(IOException e) {
        return e instanceof DicomwebException ours
                ? ours
                : new DicomwebException(Trouble.SPOOL, "the spool cannot be written: " + e, e);
    }

    public Trouble trouble() {
        return trouble;
    }
}
