package dozo.api.http;

/** A body is longer than what is accepted. */
final class TooLong extends RuntimeException {

    private static final long serialVersionUID = 1L;

    TooLong(long bytesMax) {
        super("expected a body of at most %,d bytes".formatted(bytesMax));
    }
}
