package dozo.picture;

import java.util.Arrays;

/** There is no picture of a file. */
public final class NoPicture extends Exception {

    private static final long serialVersionUID = 1L;

    private final Why why;

    /** The reason. */
    public enum Why {
        UNKNOWN_FORMAT,
        COMPRESSED,
        /** In colour, or of a type of numbers that is not drawn. */
        NOT_GREY,
        NO_IMAGE,
        /** The file, what is before the image in it, or a side of the image. */
        TOO_LARGE,
        DAMAGED,
        /** The process has ended early, or was ended. */
        UNFINISHED;

        /** Returns the reason with this name; unfinished if there is none. */
        static Why of(String name) {
            return Arrays.stream(values())
                    .filter(each -> each.name().equals(name))
                    .findFirst()
                    .orElse(UNFINISHED);
        }
    }

    NoPicture(Why why) {
        super(why.name());
        this.why = why;
    }

    public Why why() {
        return why;
    }
}
