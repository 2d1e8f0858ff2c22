package dozo.source.flywheel;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The levels of Flywheel's hierarchy, from above. All except groups may hold files. */
public enum Level {
    GROUP,
    PROJECT,
    SUBJECT,
    SESSION,
    ACQUISITION,
    ANALYSIS;

    /** Returns its name as Flywheel writes it. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static Optional<Level> of(String word) {
        return Arrays.stream(values())
                .filter(level -> level.word().equals(word))
                .findFirst();
    }

    /** Returns its name in a request's path. */
    String plural() {
        return this == ANALYSIS ? "analyses" : word() + "s";
    }

    /** Returns whether it is above another level. */
    boolean isAbove(Level other) {
        return compareTo(other) < 0;
    }
}
