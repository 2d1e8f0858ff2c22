package dozo.api.http;

import java.util.function.Supplier;

/** What was asked for by its name is not there. */
public final class Missing extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private Missing(String message) {
        super(message);
    }

    /** Returns what to throw. */
    public static Supplier<Missing> thing(String kind, Object name) {
        return () -> new Missing("there is no %s \"%s\"".formatted(kind, name));
    }
}
