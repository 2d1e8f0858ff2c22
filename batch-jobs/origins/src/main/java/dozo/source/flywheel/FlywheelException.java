package dozo.source.flywheel;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A request that brought no good answer; the message names neither the key nor what signs an address. */
public final class FlywheelException extends IOException {

    private static final long serialVersionUID = 1L;

    private final Trouble trouble;
    private final @Nullable Duration retryAfter;

    FlywheelException(Trouble trouble, String message) {
        this(trouble, message, null, null);
    }

    FlywheelException(Trouble trouble, String message, @Nullable Throwable cause) {
        this(trouble, message, cause, null);
    }

    FlywheelException(Trouble trouble, String message, @Nullable Throwable cause, @Nullable Duration retryAfter) {
        super(message, cause);
        this.trouble = trouble;
        this.retryAfter = retryAfter;
    }

    public Trouble trouble() {
        return trouble;
    }

    /** How long the server wants us to wait. */
    @Nullable
    Duration retryAfter() {
        return retryAfter;
    }
}
