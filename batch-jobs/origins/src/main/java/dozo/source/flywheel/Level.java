package dozo.source.flywheel;

import java.util.Locale;

/** The levels of Flywheel's hierarchy that hold files, from a session downwards. */
public enum Level {
    SESSION,
    ACQUISITION,
    ANALYSIS;

    /** Returns its name in a request's path. */
    String plural() {
        return this == ANALYSIS ? "analyses" : name().toLowerCase(Locale.ROOT) + "s";
    }
}
