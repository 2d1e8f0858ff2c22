package dozo.message;

import org.jspecify.annotations.Nullable;

/** A message was not accepted. Its text says why, and contains nothing secret. */
final class NotDelivered extends Exception {

    private static final long serialVersionUID = 1L;

    private final boolean useless;

    /** @param useless whether another attempt cannot succeed */
    NotDelivered(String reason, boolean useless, @Nullable Throwable cause) {
        super(reason, cause);
        this.useless = useless;
    }

    boolean isUseless() {
        return useless;
    }
}
