package dozo.command;

import dozo.ledger.Audit.Change;
import dozo.ledger.Audit.Wait;
import dozo.ledger.Coverage.Unprotected;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Tables for auditors: a line for each group, and the sum of all groups. */
final class AuditTables {

    private AuditTables() {}

    /** Returns the table of changes, with their sum. */
    static Table changes(String by, List<Change> changes) {
        Table table = new Table(
                by.toUpperCase(Locale.ROOT),
                ">MANIFESTS",
                ">NEW",
                ">CHANGED",
                ">GONE",
                ">FILES PROVEN",
                ">BYTES PROVEN",
                ">BECAME SAFE",
                ">FINDINGS");
        changes.forEach(change -> row(table, name(change.name()), List.of(change)));
        return changes.isEmpty() ? table : row(table.sum(), "sum", changes);
    }

    private static Table row(Table table, String name, List<Change> changes) {
        return table.row(
                name,
                sum(changes, Change::manifests),
                sum(changes, Change::entriesNew),
                sum(changes, Change::entriesChanged),
                sum(changes, Change::entriesGone),
                sum(changes, Change::filesProven),
                new Table.Bytes(sum(changes, Change::bytesProven)),
                sum(changes, Change::experimentsProtected),
                sum(changes, Change::findings));
    }

    /** Returns the table of waiting times. Durations of groups have no sum. */
    static Table waits(String by, List<Wait> waits) {
        Table table = new Table(
                by.toUpperCase(Locale.ROOT), ">BECAME SAFE", ">MEDIAN", ">P95", ">LONGEST", ">STILL WAITING", "SINCE");
        waits.forEach(wait -> table.row(
                name(wait.name()),
                wait.protections(),
                new Table.Minutes(wait.medianMinutes()),
                new Table.Minutes(wait.p95Minutes()),
                new Table.Minutes(wait.longestMinutes()),
                wait.waiting(),
                Times.text(wait.waitingSince())));
        return table;
    }

    /** Returns the table of the experiments that have waited longest. */
    static Table oldest(List<Unprotected> oldest) {
        Table table = new Table("SINCE", "EXPERIMENT", ">FILES NOT SAFE", ">BYTES NOT SAFE");
        for (Unprotected each : oldest) {
            Long files = each.files();
            Long bytes = each.bytes();
            table.row(
                    each.since(),
                    each.project() + "/" + each.code(),
                    files == null ? "not read yet" : files,
                    bytes == null ? "unknown" : new Table.Bytes(bytes));
        }
        return table;
    }

    static String name(@Nullable String name) {
        return name == null ? "unknown" : name;
    }

    /** Adds up a number of each item. */
    static <T> long sum(List<T> all, ToLongFunction<T> part) {
        return all.stream().mapToLong(part).sum();
    }
}
