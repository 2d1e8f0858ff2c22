package dozo.registry;

import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * What came of a line of a file of experiments to register, and what was understood of it.
 *
 * @param line where it begins in the file; the heading is line 1 in most
 * @param source the folder, rendered for people
 * @param field of a refused one: which is at fault
 * @param message of a refused one: what would be accepted; of an unchanged one: where it says something else
 */
public record Verdict(
        int line,
        Outcome outcome,
        @Nullable String project,
        @Nullable String code,
        @Nullable String title,
        @Nullable String source,
        @Nullable String modality,
        @Nullable String scanner,
        @Nullable LocalDate acquired,
        @Nullable String field,
        @Nullable String message)
        implements JudgedLine {

    /** What came of a line. */
    public enum Outcome {
        REGISTERED,
        /** Could be registered and was not: it was only asked, or another line is refused. */
        ACCEPTED,
        /** Registered already with the same folder, or in a line before; nothing of it is changed. */
        UNCHANGED,
        REFUSED
    }

    boolean refused() {
        return outcome == Outcome.REFUSED;
    }
}
