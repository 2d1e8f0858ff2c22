package dozo.source.flywheel;

import java.util.Locale;

/** The levels of a Flywheel's hierarchy, and analyses, which may hang under any of them. */
public enum Level {
    GROUP,
    PROJECT,
    SUBJECT,
    SESSION,
    ACQUISITION,
    ANALYSIS;

    /** Its word in a request's path. */
    String plural() {
        return this == ANALYSIS ? "analyses" : name().toLowerCase(Locale.ROOT) + "s";
    }
}
