package dozo.api;

import dozo.api.Sheet.Column;
import dozo.ledger.Audit.Change;
import dozo.ledger.Audit.Wait;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Group;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Coverage.Unprotected;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What stands in the CSV of an auditor's answers: the fields of the JSON, in their order. */
final class AuditSheets {

    static final List<Column<ExperimentCoverage>> EXPERIMENTS = List.of(
            new Column<>("experimentId", ExperimentCoverage::experimentId),
            new Column<>("project", ExperimentCoverage::project),
            new Column<>("code", ExperimentCoverage::code),
            new Column<>("title", ExperimentCoverage::title),
            new Column<>("manifest", ExperimentCoverage::manifest),
            new Column<>("sealedAt", ExperimentCoverage::sealedAt),
            new Column<>("files", ExperimentCoverage::files),
            new Column<>("bytes", ExperimentCoverage::bytes),
            new Column<>("filesSafe", ExperimentCoverage::filesSafe),
            new Column<>("bytesSafe", ExperimentCoverage::bytesSafe),
            new Column<>("safe", ExperimentCoverage::safe));

    static final List<Column<Unprotected>> UNPROTECTED = List.of(
            new Column<>("project", Unprotected::project),
            new Column<>("code", Unprotected::code),
            new Column<>("since", Unprotected::since),
            new Column<>("files", Unprotected::files),
            new Column<>("bytes", Unprotected::bytes));

    private AuditSheets() {}

    /** Of what is as it was at a moment; null: now. */
    static List<Column<Group>> groups(@Nullable Instant asOf) {
        List<Column<Group>> columns = new ArrayList<>();
        columns.add(new Column<>("asOf", group -> asOf));
        columns.add(new Column<>("name", Group::name));
        columns.addAll(totals(Group::totals));
        return columns;
    }

    static List<Column<Change>> changes(Instant from, Instant until) {
        return List.of(
                new Column<>("from", change -> from),
                new Column<>("until", change -> until),
                new Column<>("name", Change::name),
                new Column<>("manifests", Change::manifests),
                new Column<>("entriesNew", Change::entriesNew),
                new Column<>("entriesChanged", Change::entriesChanged),
                new Column<>("entriesGone", Change::entriesGone),
                new Column<>("filesProven", Change::filesProven),
                new Column<>("bytesProven", Change::bytesProven),
                new Column<>("experimentsProtected", Change::experimentsProtected),
                new Column<>("findings", Change::findings));
    }

    static List<Column<Wait>> waits(Instant from, Instant until) {
        return List.of(
                new Column<>("from", wait -> from),
                new Column<>("until", wait -> until),
                new Column<>("name", Wait::name),
                new Column<>("protections", Wait::protections),
                new Column<>("medianMinutes", Wait::medianMinutes),
                new Column<>("p95Minutes", Wait::p95Minutes),
                new Column<>("longestMinutes", Wait::longestMinutes),
                new Column<>("waiting", Wait::waiting),
                new Column<>("waitingSince", Wait::waitingSince));
    }

    /** The columns of the sums in something. */
    static <T> List<Column<T>> totals(Function<T, Totals> in) {
        return List.of(
                of(in, "safe", Totals::safe),
                of(in, "experiments", Totals::experiments),
                of(in, "experimentsSafe", Totals::experimentsSafe),
                of(in, "files", Totals::files),
                of(in, "filesSafe", Totals::filesSafe),
                of(in, "bytes", Totals::bytes),
                of(in, "bytesSafe", Totals::bytesSafe),
                of(in, "oldestUnprotected", Totals::oldestUnprotected),
                of(in, "experimentsUnseen", Totals::experimentsUnseen));
    }

    private static <T> Column<T> of(Function<T, Totals> in, String heading, Function<Totals, @Nullable Object> value) {
        return new Column<>(heading, each -> value.apply(in.apply(each)));
    }
}
