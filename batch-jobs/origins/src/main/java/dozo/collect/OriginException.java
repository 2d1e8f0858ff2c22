package dozo.collect;

import java.io.IOException;

/**
 * An origin cannot be used at all, or no longer: it is down, or rejects the key. This says nothing about its items.
 */
public final class OriginException extends IOException {

    private static final long serialVersionUID = 1L;

    /** @param message says what to check; contains nothing secret */
    public OriginException(String message) {
        super(message);
    }
}
