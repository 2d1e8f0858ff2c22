package dozo.registry;

import dozo.file.FilePath;
import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.registry.CsvFile.Row;
import dozo.registry.FileQuestion.Unanswered;
import dozo.registry.SourceRoots.Placed;
import dozo.registry.Verdict.Outcome;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An experiment that a line requests to register; each field by itself is valid.
 *
 * @param bound whether the source is below a root of the project
 * @param outside why the source may not be registered where it is; null: it may
 */
record Wish(
        int line,
        String project,
        String code,
        String title,
        Path source,
        boolean bound,
        @Nullable Refusal outside,
        Acquisition acquisition)
        implements JudgedLine {

    /** Returns the wish with its source resolved. */
    Wish placed(SourceRoots roots, Sight sight) {
        try {
            Placed placed = roots.place(RegistrationColumn.SOURCE.field(), source, sight);
            return new Wish(line, project, code, title, placed.path(), placed.bound(), null, acquisition);
        } catch (Unanswered ofAllLines) {
            throw ofAllLines;
        } catch (Refusal refusal) {
            return new Wish(line, project, code, title, source, false, refusal, acquisition);
        }
    }

    /** Returns the wish of a row, or the verdict if it is invalid whatever else is registered. */
    static JudgedLine of(Row<RegistrationColumn> row, InstantSource clock) {
        if (row.refusal() != null) {
            return refused(row, row.refusal());
        }
        try {
            String day = row.stripped(RegistrationColumn.ACQUIRED);
            LocalDate acquired = day == null ? null : WrittenDay.of(RegistrationColumn.ACQUIRED.field(), day);
            Acquisition acquisition = new Acquisition(
                    row.stripped(RegistrationColumn.MODALITY), row.stripped(RegistrationColumn.SCANNER), acquired);
            Experiments.checkDay(acquisition, clock);
            String title = row.stripped(RegistrationColumn.TITLE);
            return new Wish(
                    row.line(),
                    Code.checked("project", required(row, RegistrationColumn.PROJECT)),
                    Code.checked("code", required(row, RegistrationColumn.CODE)),
                    Code.checkedTitle(title == null ? "" : title),
                    source(row),
                    false,
                    null,
                    acquisition);
        } catch (Refusal refusal) {
            return refused(row, refusal);
        }
    }

    /** Returns {@code project/experiment}. */
    String name() {
        return project + "/" + code;
    }

    Verdict verdict(Outcome outcome, @Nullable Message message) {
        return verdict(outcome, null, message);
    }

    Verdict refused(Refusal refusal) {
        return verdict(Outcome.REFUSED, refusal.field(), refusal.message());
    }

    private Verdict verdict(Outcome outcome, @Nullable String field, @Nullable Message message) {
        return new Verdict(
                line,
                outcome,
                project,
                code,
                title,
                Experiments.shown(source),
                acquisition.modality(),
                acquisition.scanner(),
                acquisition.day(),
                field,
                message);
    }

    /** Returns the verdict of a refused row with its cells as they are. An invalid date is only in the message. */
    private static Verdict refused(Row<RegistrationColumn> row, Refusal refusal) {
        return new Verdict(
                row.line(),
                Outcome.REFUSED,
                row.cells().get(RegistrationColumn.PROJECT),
                row.cells().get(RegistrationColumn.CODE),
                row.cells().get(RegistrationColumn.TITLE),
                row.cells().get(RegistrationColumn.SOURCE),
                row.cells().get(RegistrationColumn.MODALITY),
                row.cells().get(RegistrationColumn.SCANNER),
                null,
                refusal.field(),
                refusal.message());
    }

    private static String required(Row<RegistrationColumn> row, RegistrationColumn column) {
        String cell = row.stripped(column);
        if (cell == null) {
            throw new Refusal(column.field(), "the cell is empty: expected a code");
        }
        return cell;
    }

    /** Returns the folder of a row; empty if it has none. */
    static Optional<Path> sourceOf(Row<RegistrationColumn> row) {
        try {
            return Optional.of(source(row));
        } catch (Refusal none) {
            return Optional.empty();
        }
    }

    /** NB: not stripped, because a folder's name may begin or end with a space. */
    private static Path source(Row<RegistrationColumn> row) {
        String field = RegistrationColumn.SOURCE.field();
        String cell = row.cells().get(RegistrationColumn.SOURCE);
        if (cell == null || !cell.startsWith("/")) {
            throw new Refusal(
                    field,
                    "\"%s\": expected an absolute path on the service's machine, starting with /",
                    cell == null ? "" : cell);
        }
        return Experiments.checkedPath(field, FilePath.pathOf(cell.getBytes(StandardCharsets.UTF_8)));
    }
}
