package dozo.registry;

import dozo.file.Message;
import java.time.LocalDate;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result for a line of a file of experiments to register, with its parsed values.
 *
 * @param line where it begins in the file; the heading is usually line 1
 * @param source the folder, rendered for people
 * @param field of a refused line: the wrong field
 * @param message of a refused line: what is expected; of an unchanged line: how it differs
 * @param suggested the fields that were filled from the folder's content; null: not requested, or none
 * @param hints notes on the folder; null: not requested, or none
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

    /** The outcome of a line. */
    public enum Outcome {
        REGISTERED,
        /** Registrable but not registered: it was only a dry run, or another line is refused. */
        ACCEPTED,
        /** Registered already with the same folder, or in an earlier line; nothing is changed. */
        UNCHANGED,
        REFUSED
    }

    /** Creates a verdict without suggestions. */
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

    /** Returns the same verdict with the suggestions from the folder. */
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

    /** The fields of a line that were filled from its folder's content, and notes on them. */
    record Filling(List<String> fields, List<Hint> hints) {}

    boolean refused() {
        return outcome == Outcome.REFUSED;
    }
}
