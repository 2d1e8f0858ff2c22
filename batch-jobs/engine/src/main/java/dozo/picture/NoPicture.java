package dozo.picture;

import java.util.Arrays;

/** There is no picture of a file. */
public final class NoPicture extends Exception {

    private static final long serialVersionUID = 1L;

    private final Why why;

    /** The reason. */
    public enum Why {
        /** Not DICOM with a preamble, NIfTI in one file, or FIFF; also in gzip. */
        UNKNOWN_FORMAT(10),
        /** Its images are compressed. */
        COMPRESSED(11),
        /** Its images are in colour, or their numbers have a type that is not drawn. */
        NOT_GREY(12),
        /** It has no image, or no continuous recording. */
        NO_IMAGE(13),
        /** It is larger than {@link Drawing#CONTENT_BYTES_MAX}, or a side has more than {@link Drawing#SIDE_MAX} points. */
        TOO_LARGE(14),
        /** It ends early, or contradicts itself. */
        DAMAGED(15),
        /** Drawing it took too much time or memory. */
        UNFINISHED(16);

        /** Of the process that draws; Java itself uses others. */
        private final int exitCode;

        Why(int exitCode) {
            this.exitCode = exitCode;
        }

        int exitCode() {
            return exitCode;
        }

        /** Returns the reason of a process that ended without a picture. */
        static Why of(int exitCode) {
            return Arrays.stream(values())
                    .filter(each -> each.exitCode == exitCode)
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
