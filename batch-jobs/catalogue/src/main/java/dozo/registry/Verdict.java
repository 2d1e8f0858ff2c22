package dozo.registry;

import dozo.file.Message;
import java.time.LocalDate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of a line of a file of experiments to register, and what was understood of it.
 *
 * @param line where it begins in the file; the heading is line 1 in most
 * @param source the folder, rendered for people
 * @param field of a refused one: which is at fault
 * @param message of a refused one: what is expected; of an unchanged one: where it says something else
 * @param suggested the fields that the folder says, and the line does not; null: nobody asked, or there are none
 * @param hints what is to be known of the folder; null: nobody asked, or there is nothing
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
        @Nullable Message message,
        @Nullable List<String> suggested,
        @Nullable List<Hint> hints)
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

    /** Of a line of which nobody asked what its folder says. */
    Verdict(
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
            @Nullable Message message) {
        this(line, outcome, project, code, title, source, modality, scanner, acquired, field, message, null, null);
    }

    /** The same line, with what its folder says. */
    Verdict with(Filling filling) {
        return new Verdict(
                line,
                outcome,
                project,
                code,
                title,
                source,
                modality,
                scanner,
                acquired,
                field,
                message,
                filling.fields().isEmpty() ? null : filling.fields(),
                filling.hints().isEmpty() ? null : filling.hints());
    }

    /** What was filled into a line by its folder, and what is to be known of that. */
    record Filling(List<String> fields, List<Hint> hints) {}

    boolean refused() {
        return outcome == Outcome.REFUSED;
    }
}
