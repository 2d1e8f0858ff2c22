package dozo.archive;

import java.io.IOException;

/** A container or file cannot be restored; the message says why. */
final class NotRestored extends IOException {

    private static final long serialVersionUID = 1L;

    NotRestored(String why) {
        super(why);
    }
}
