package dozo.command;

import dozo.file.Size;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Group;
import dozo.ledger.Coverage.Totals;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Shows coverage on a terminal: a line for each experiment, and a sentence that sums them up. */
public final class CoverageTable {

    private CoverageTable() {}

    /**
     * Prints the table and the sentence.
     *
     * @param retired the number of experiments that are not in the sums, because they are retired
     * @param atRisk the states of the experiments at risk by name, even if all of their entries are safe
     */
    public static void print(
            PrintWriter out,
            Totals all,
            long retired,
            List<ExperimentCoverage> experiments,
            Map<String, String> atRisk) {
        if (!experiments.isEmpty()) {
            Table table = new Table("EXPERIMENT", "SAFE", ">FILES", ">OF", ">SIZE", ">OF", "TITLE");
            for (ExperimentCoverage experiment : experiments) {
                table.row(
                        experiment.project() + "/" + experiment.code(),
                        state(experiment, atRisk),
                        experiment.filesSafe(),
                        experiment.files(),
                        new Table.Bytes(experiment.bytesSafe()),
                        new Table.Bytes(experiment.bytes()),
                        Connection.visible(experiment.title()));
            }
            table.print(out);
            out.println();
        }
        out.println(colour(all, !atRisk.isEmpty()).of(sentence(all, retired, !atRisk.isEmpty())));
        out.flush();
    }

    /** Prints sums by a dimension, and the total. */
    static void groups(PrintWriter out, String by, List<Group> groups, @Nullable Totals all) {
        Table table = new Table(
                by.toUpperCase(Locale.ROOT),
                ">SAFE",
                ">EXPERIMENTS",
                ">OF",
                ">UNSEEN",
                ">FILES",
                ">OF",
                ">SIZE",
                ">OF",
                "OLDEST UNPROTECTED");
        groups.forEach(group -> row(table, AuditTables.name(group.name()), group.totals()));
        row(table.sum(), "sum", all).print(out);
    }

    private static Table row(Table table, String name, @Nullable Totals totals) {
        if (totals == null) {
            return table.row(name, "unknown", "", "", "", "", "", "", "", "");
        }
        return table.row(
                name,
                totals.experiments() == 0 ? "none" : totals.percent() + " %",
                totals.experimentsSafe(),
                totals.experiments(),
                totals.experimentsUnseen(),
                totals.filesSafe(),
                totals.files(),
                new Table.Bytes(totals.bytesSafe()),
                new Table.Bytes(totals.bytes()),
                Times.text(totals.oldestUnprotected()));
    }

    /** Prints sums by a dimension as CSV. The unknown group has an empty name. */
    static void csv(PrintWriter out, String by, List<Group> groups) {
        Table table = new Table(
                by,
                "experiments",
                "experiments safe",
                "experiments unseen",
                "files",
                "files safe",
                "bytes",
                "bytes safe",
                "oldest unprotected");
        for (Group group : groups) {
            Totals totals = group.totals();
            String name = group.name() == null ? "" : group.name();
            if (totals == null) {
                table.row(name, "", "", "", "", "", "", "", "");
                continue;
            }
            table.row(
                    name,
                    totals.experiments(),
                    totals.experimentsSafe(),
                    totals.experimentsUnseen(),
                    totals.files(),
                    totals.filesSafe(),
                    totals.bytes(),
                    totals.bytesSafe(),
                    totals.oldestUnprotected() == null ? "" : totals.oldestUnprotected());
        }
        table.csv(out);
    }

    private static Colour colour(Totals all, boolean anyAtRisk) {
        if (anyAtRisk) {
            return Colour.BAD;
        }
        return all.safe() ? Colour.GOOD : Colour.WAITING;
    }

    /** Returns the answer to "is everything safe?". */
    private static String sentence(Totals all, long retired, boolean anyAtRisk) {
        if (all.experiments() == 0) {
            return retired == 0
                    ? "No experiment is registered yet."
                    : "All experiments are retired: %,d.".formatted(retired);
        }
        String sums = "%,d files, %s".formatted(all.filesSafe(), Size.text(all.bytesSafe()));
        if (all.safe()) {
            String asSealed = anyAtRisk ? " as last sealed" : "";
            return all.experiments() == 1
                    ? "The experiment is safe%s: %s.".formatted(asSealed, sums)
                    : "All %,d experiments are safe%s: %s.".formatted(all.experiments(), asSealed, sums);
        }
        return "%,d of %,d experiments are safe, %s; the oldest unprotected data is from %s."
                .formatted(all.experimentsSafe(), all.experiments(), sums, Times.text(all.oldestUnprotected()));
    }

    private static Table.State state(ExperimentCoverage experiment, Map<String, String> atRisk) {
        String state = atRisk.get(experiment.project() + "/" + experiment.code());
        if (state != null) {
            return new Table.State(state, Colour.BAD);
        }
        if (experiment.safe()) {
            return new Table.State("yes", Colour.GOOD);
        }
        return new Table.State(experiment.manifest() == null ? "not read yet" : "no", Colour.WAITING);
    }
}
