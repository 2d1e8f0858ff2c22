package dozo.api.http;

/** Thrown if a resource has changed since the editor saw it. */
final class Stale extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Stale(String message) {
        super(message);
    }
}
