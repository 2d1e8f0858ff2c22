package dozo.rebuild;

/** A folder at a site is not a complete bag of ours; the message says why. */
final class BrokenBag extends Exception {

    private static final long serialVersionUID = 1L;

    BrokenBag(String message) {
        super(message);
    }

    String message() {
        return String.valueOf(getMessage());
    }
}
