package dozo.api.http;

import java.util.function.Supplier;

/** Thrown if a named resource does not exist. */
public final class Missing extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private Missing(String message) {
        super(message);
    }

    /** Returns a supplier of the exception for one resource. */
    public static Supplier<Missing> thing(String kind, Object name) {
        return () -> new Missing("%s \"%s\" does not exist".formatted(kind, name));
    }
}
