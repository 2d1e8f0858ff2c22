package dozo.registry;

import static java.util.Objects.requireNonNull;

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
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An experiment that a line requests to register.
 *
 * @param project empty if it is malformed; the same for {@code code}
 * @param folder null if it is malformed
 * @param bound whether the source is below a root of the project
 * @param outside why the source may not be registered where it is; null: it may
 * @param malformed the fields that are invalid whatever else is registered
 * @param written of a line with malformed fields: its values as they were written; null: it has none
 */
record Wish(
        int line,
        String project,
        String code,
        String title,
        @Nullable Path folder,
        boolean bound,
        @Nullable Refusal outside,
        Acquisition acquisition,
        List<Refusal> malformed,
        @Nullable Verdict written)
        implements JudgedLine {

    /** Returns the wish with its source resolved. */
    Wish placed(SourceRoots roots, Sight sight) {
        if (folder == null) {
            return this;
        }
        try {
            Placed placed = roots.place(RegistrationColumn.SOURCE.field(), folder, sight);
            return at(placed.path(), placed.bound(), null);
        } catch (Unanswered ofAllLines) {
            throw ofAllLines;
        } catch (Refusal refusal) {
            return at(folder, false, refusal);
        }
    }

    private Wish at(Path place, boolean isBound, @Nullable Refusal refusal) {
        return new Wish(line, project, code, title, place, isBound, refusal, acquisition, malformed, written);
    }

    /** Returns the wish of a row, or the verdict if the row cannot be parsed. */
    static JudgedLine of(Row<RegistrationColumn> row, InstantSource clock) {
        return of(row, null, clock);
    }

    /**
     * Returns the wish of a row.
     *
     * @param known its folder; null: it is in the row
     */
    static JudgedLine of(Row<RegistrationColumn> row, @Nullable Path known, InstantSource clock) {
        if (row.refusal() != null) {
            return written(row).refused(List.of(row.refusal()));
        }
        Refusals refusals = new Refusals();
        Acquisition acquisition = acquisition(row, refusals, clock);
        String project = refusals.tried(() -> Code.checked("project", required(row, RegistrationColumn.PROJECT)));
        String code = refusals.tried(() -> Code.checked("code", required(row, RegistrationColumn.CODE)));
        String title = row.stripped(RegistrationColumn.TITLE);
        String checkedTitle = refusals.tried(() -> Code.checkedTitle(title == null ? "" : title));
        Path folder = refusals.tried(
                () -> known == null ? source(row) : GivenPaths.checked(RegistrationColumn.SOURCE.field(), known));
        List<Refusal> malformed = refusals.all();
        return new Wish(
                row.line(),
                project == null ? "" : project,
                code == null ? "" : code,
                checkedTitle == null ? "" : checkedTitle,
                folder,
                false,
                null,
                acquisition == null ? Acquisition.UNKNOWN : acquisition,
                malformed,
                malformed.isEmpty() ? null : written(row));
    }

    private static @Nullable Acquisition acquisition(
            Row<RegistrationColumn> row, Refusals refusals, InstantSource clock) {
        String day = row.stripped(RegistrationColumn.ACQUIRED);
        LocalDate acquired =
                day == null ? null : refusals.tried(() -> WrittenDay.of(RegistrationColumn.ACQUIRED.field(), day));
        return refusals.tried(() -> {
            Acquisition acquisition = new Acquisition(
                    row.stripped(RegistrationColumn.MODALITY), row.stripped(RegistrationColumn.SCANNER), acquired);
            Experiments.checkDay(acquisition, clock);
            return acquisition;
        });
    }

    /** Returns {@code project/experiment}. */
    String name() {
        return project + "/" + code;
    }

    /** Returns the source of a line without malformed fields. */
    Path source() {
        return requireNonNull(folder);
    }

    Verdict verdict(Outcome outcome, @Nullable Message message) {
        return new Verdict(
                line,
                outcome,
                project,
                code,
                title,
                GivenPaths.shown(source()),
                acquisition.modality(),
                acquisition.scanner(),
                acquisition.day(),
                message);
    }

    Verdict refused(List<Refusal> refusals) {
        return (written == null ? verdict(Outcome.REFUSED, null) : written).refused(refusals);
    }

    /** Returns a verdict with the cells as they are. An invalid date is only in the message. */
    private static Verdict written(Row<RegistrationColumn> row) {
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
                null);
    }

    private static String required(Row<RegistrationColumn> row, RegistrationColumn column) {
        String cell = row.stripped(column);
        if (cell == null) {
            throw new Refusal(column.field(), "expected a code; nothing is given");
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
        if (cell == null || !cell.startsWith("/") || cell.indexOf('\0') >= 0) {
            throw new Refusal(
                    field,
                    "\"%s\": expected an absolute path on the service's machine, starting with /",
                    cell == null ? "" : cell);
        }
        return GivenPaths.checked(field, FilePath.pathOf(cell.getBytes(StandardCharsets.UTF_8)));
    }
}
