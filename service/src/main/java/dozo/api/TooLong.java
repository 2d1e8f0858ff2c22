package dozo.api;

/** A body is longer than what is accepted. */
final class TooLong extends RuntimeException {

    private static final long serialVersionUID = 1L;

    TooLong(long bytesMax) {
        super("a body of at most %,d bytes is accepted".formatted(bytesMax));
    }
}
