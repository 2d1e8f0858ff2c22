package dozo.registry;

import static java.util.Objects.requireNonNull;

import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.registry.Corrections.Change;
import dozo.registry.Corrections.Correction;
import dozo.registry.CsvFile.Row;
import java.io.IOException;
import java.io.InputStream;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Corrects the experiments of a CSV file: all or none, in one transaction with their ledger rows. An empty cell leaves a
 * value as it is, and {@code -} makes it unknown.
 */
@Component
public class BulkCorrection {

    /** The apostrophe before a formula, which exported sheets have. */
    private static final Pattern ESCAPED = Pattern.compile("'[-=+@＝＋－＠].*");

    private final JdbcClient jdbc;
    private final Corrections corrections;
    private final InstantSource clock;
    private final TransactionTemplate transaction;

    /**
     * A field of a line that is wrong, or one that changes.
     *
     * @param line where the line begins in the file; the heading is usually line 1
     * @param before the value until now; null: unknown
     * @param after the value from now on; null: unknown
     * @param message of a wrong field: what is expected there; null: it changes
     */
    public record CorrectedField(
            int line,
            String project,
            String code,
            String field,
            @Nullable String before,
            @Nullable String after,
            @Nullable Message message) {}

    /**
     * The result for a file.
     *
     * @param changed the number of experiments with other values
     * @param unchanged the number of experiments that have these values already
     * @param refused the number of wrong lines; unless it is 0, nothing was changed
     * @param lines all wrong fields of all lines; if there are none, all fields that change
     */
    public record CorrectedFile(
            String encoding, char separator, long changed, long unchanged, long refused, List<CorrectedField> lines) {}

    /** A line of the file. An empty project or code is malformed. */
    private record Line(int number, String project, String code, Correction wanted, List<Refusal> malformed) {

        static Line of(Row<CorrectionColumn> row) {
            Refusals refusals = new Refusals();
            String[] name = name(row);
            String project = refusals.tried(() -> Code.checked("project", name[0]));
            String code = refusals.tried(() -> Code.checked("code", name[1]));
            String written = cell(row, CorrectionColumn.ACQUIRED);
            LocalDate day = written == null || written.isEmpty()
                    ? null
                    : refusals.tried(() -> WrittenDay.of("acquired", written));
            Correction wanted = new Correction(
                    cell(row, CorrectionColumn.TITLE),
                    cell(row, CorrectionColumn.MODALITY),
                    cell(row, CorrectionColumn.SCANNER),
                    day == null && !"".equals(written) ? null : Objects.toString(day, ""),
                    cell(row, CorrectionColumn.SUBJECT),
                    cell(row, CorrectionColumn.NOTE));
            return new Line(
                    row.line(),
                    project == null ? "" : project,
                    code == null ? "" : code,
                    row.refusal() == null ? wanted : new Correction(null, null, null, null, null, null),
                    row.refusal() == null ? refusals.all() : List.of(row.refusal()));
        }

        /** Returns the codes of project and experiment, which may be in one cell. */
        private static String[] name(Row<CorrectionColumn> row) {
            String project = row.stripped(CorrectionColumn.PROJECT);
            String code = Objects.requireNonNullElse(row.stripped(CorrectionColumn.CODE), "");
            int slash = code.indexOf('/');
            return project == null && slash >= 0
                    ? new String[] {code.substring(0, slash), code.substring(slash + 1)}
                    : new String[] {Objects.requireNonNullElse(project, ""), code};
        }

        private static @Nullable String cell(Row<CorrectionColumn> row, CorrectionColumn column) {
            String cell = row.stripped(column);
            return cell == null
                    ? null
                    : cell.equals("-") ? "" : ESCAPED.matcher(cell).matches() ? cell.substring(1) : cell;
        }

        String name() {
            return project + "/" + code;
        }
    }

    private record Known(int id, TypedDetails said) {}

    BulkCorrection(
            JdbcClient jdbc, Corrections corrections, InstantSource clock, PlatformTransactionManager transactions) {
        this.jdbc = jdbc;
        this.corrections = corrections;
        this.clock = clock;
        this.transaction = new TransactionTemplate(transactions);
    }

    /**
     * Corrects the experiments of a file.
     *
     * @param sight an experiment that is not visible is treated as missing
     * @param encoding its name; null: detected from the bytes
     * @param dryRun nothing is changed; the answer is that of a correction
     * @throws Refusal if the file as a whole cannot be parsed, or is too large
     */
    public CorrectedFile correct(Sight sight, InputStream csv, @Nullable String encoding, boolean dryRun, String actor)
            throws IOException {
        CsvFile<Line> file = CsvFile.read(csv, encoding, List.of(CorrectionColumn.values()), Line::of);
        return requireNonNull(transaction.execute(status -> {
            List<CorrectedField> wrong = new ArrayList<>();
            List<CorrectedField> changing = new ArrayList<>();
            List<Change> changes = new ArrayList<>();
            long refused = 0;
            Map<String, Known> known = locked(sight, file.lines());
            Map<String, Integer> earlier = new HashMap<>();
            for (Line line : file.lines()) {
                Known found = known.get(line.name());
                Refusals refusals = new Refusals();
                line.malformed.forEach(refusals::add);
                check(line, found, earlier.putIfAbsent(line.name(), line.number), refusals);
                TypedDetails before = found == null ? TypedDetails.NONE : found.said;
                TypedDetails after = refusals.tried(() -> before.with(line.wanted, clock));
                refusals.all().forEach(each -> wrong.add(told(line, each.field(), null, null, each.message())));
                if (found == null || after == null || !refusals.all().isEmpty()) {
                    refused++;
                } else if (!after.equals(before)) {
                    changes.add(new Change(found.id, line.name(), before, after));
                    tell(line, before.fields(), after.fields(), changing);
                }
            }
            if (!dryRun && refused == 0) {
                corrections.write(changes, actor);
            }
            long unchanged = file.lines().size() - changes.size() - refused;
            return new CorrectedFile(
                    file.encoding(),
                    file.separator(),
                    changes.size(),
                    unchanged,
                    refused,
                    refused == 0 ? changing : wrong);
        }));
    }

    private static void check(Line line, @Nullable Known found, @Nullable Integer earlier, Refusals refusals) {
        boolean named = !line.project.isEmpty() && !line.code.isEmpty();
        if (named && found == null) {
            refusals.add(new Refusal("code", "experiment \"%s\" does not exist", line.name()));
        } else if (named && earlier != null) {
            refusals.add(new Refusal("code", "experiment %s is in line %d, too", line.name(), earlier));
        }
    }

    private static void tell(
            Line line,
            Map<String, @Nullable String> before,
            Map<String, @Nullable String> after,
            List<CorrectedField> told) {
        after.forEach((field, value) -> {
            if (!Objects.equals(value, before.get(field))) {
                told.add(told(line, field, before.get(field), value, null));
            }
        });
    }

    private static CorrectedField told(
            Line line, String field, @Nullable String before, @Nullable String after, @Nullable Message message) {
        return new CorrectedField(line.number, line.project, line.code, field, before, after, message);
    }

    /** Locks the visible experiments of these lines, in an order that is the same for every file. */
    private Map<String, Known> locked(Sight sight, List<Line> lines) {
        Map<String, Known> known = new HashMap<>();
        jdbc.sql("""
                        select p.code || '/' || e.code as name, e.experiment_id, e.title, e.modality, e.scanner, e.acquired_on,
                               e.subject, e.note
                        from experiment e join project p using (project_id)
                        where (p.code, e.code) in (select * from unnest(:projects::text[], :codes::text[]))
                          and in_sight(:seen, p.code)
                        order by e.experiment_id
                        for no key update of e
                        """)
                .param("seen", sight.seen())
                .param("projects", lines.stream().map(Line::project).toArray(String[]::new))
                .param("codes", lines.stream().map(Line::code).toArray(String[]::new))
                .query(row -> {
                    Acquisition acquisition = new Acquisition(
                            row.getString("modality"),
                            row.getString("scanner"),
                            row.getObject("acquired_on", LocalDate.class));
                    TypedDetails said = new TypedDetails(
                            row.getString("title"), acquisition, row.getString("subject"), row.getString("note"));
                    known.put(row.getString("name"), new Known(row.getInt("experiment_id"), said));
                });
        return known;
    }
}
