package dozo.api.http;

/** Thrown if a body is longer than accepted. */
final class TooLong extends RuntimeException {

    private static final long serialVersionUID = 1L;

    TooLong(long bytesMax) {
        super("expected a body of at most %,d bytes".formatted(bytesMax));
    }
}
