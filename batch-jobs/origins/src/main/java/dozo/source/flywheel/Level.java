package dozo.source.flywheel;

import java.util.Locale;

/** Where files hang in a Flywheel, from a session downwards. */
public enum Level {
    SESSION,
    ACQUISITION,
    ANALYSIS;

    /** Its word in a request's path. */
    String plural() {
        return this == ANALYSIS ? "analyses" : name().toLowerCase(Locale.ROOT) + "s";
    }
}
