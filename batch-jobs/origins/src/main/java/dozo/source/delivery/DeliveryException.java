package dozo.source.delivery;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A request without a good answer, or a spool that cannot be read or written. The message contains no key, no signed
 * address and nothing about a patient.
 */
public final class DeliveryException extends IOException {

    private static final long serialVersionUID = 1L;

    private final Trouble trouble;
    private final @Nullable Duration retryAfter;

    public DeliveryException(Trouble trouble, String message) {
        this(trouble, message, null, null);
    }

    public DeliveryException(Trouble trouble, String message, @Nullable Throwable cause) {
        this(trouble, message, cause, null);
    }

    DeliveryException(Trouble trouble, String message, @Nullable Throwable cause, @Nullable Duration retryAfter) {
        super(message, cause);
        this.trouble = trouble;
        this.retryAfter = retryAfter;
    }

    /** Returns a failure of the spool, unless the exception already states another trouble. */
    public static DeliveryException ofSpool(IOException e) {
        return e instanceof DeliveryException known
                ? known
                : new DeliveryException(Trouble.SPOOL, "the spool cannot be read or written: " + e, e);
    }

    public Trouble trouble() {
        return trouble;
    }

    /** Returns its message, which is never null. */
    String message() {
        return String.valueOf(getMessage());
    }

    /** Returns how long the server asks to wait; null if it does not say. */
    @Nullable
    Duration retryAfter() {
        return retryAfter;
    }
}
