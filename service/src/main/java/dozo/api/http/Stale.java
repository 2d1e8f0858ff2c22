package dozo.api.http;

/** What is to be changed is not any more what the editor saw. */
final class Stale extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Stale(String message) {
        super(message);
    }
}
