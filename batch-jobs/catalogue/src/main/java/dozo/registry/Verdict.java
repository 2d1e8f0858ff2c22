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
 * @param field of a refused line: the first wrong field
 * @param message of a refused line: what is expected there; of an unchanged line: how it differs
 * @param errors of a refused line: all wrong fields, the first one too; null: it is not refused
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
        @Nullable List<Wrong> errors,
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

    /** A wrong field, and what is expected there. */
    public record Wrong(String field, Message message) {

        static List<Wrong> of(List<Refusal> refusals) {
            return refusals.stream()
                    .map(each -> new Wrong(each.field(), each.message()))
                    .toList();
        }
    }

    /** Creates a verdict on a line that is not refused, without suggestions. */
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
            @Nullable Message message) {
        this(line, outcome, project, code, title, source, modality, scanner, acquired, null, message, null, null, null);
    }

    /** Returns the same verdict as a refusal. */
    Verdict refused(List<Refusal> refusals) {
        return new Verdict(
                line,
                Outcome.REFUSED,
                project,
                code,
                title,
                source,
                modality,
                scanner,
                acquired,
                refusals.getFirst().field(),
                refusals.getFirst().message(),
                Wrong.of(refusals),
                suggested,
                hints);
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
                errors,
                filling.fields().isEmpty() ? null : filling.fields(),
                filling.hints().isEmpty() ? null : filling.hints());
    }

    /** The fields of a line that were filled from its folder's content, and notes on them. */
    record Filling(List<String> fields, List<Hint> hints) {}

    boolean refused() {
        return outcome == Outcome.REFUSED;
    }
}
