package dozo.command;

import dozo.file.Size;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Totals;
import java.io.PrintWriter;
import java.util.List;

/** What is safe, for a terminal: a line for each experiment and the sentence that sums them up. */
public final class CoverageTable {

    private CoverageTable() {}

    /** Prints the table and the sentence. */
    public static void print(PrintWriter out, Totals all, List<ExperimentCoverage> experiments) {
        if (!experiments.isEmpty()) {
            Table table = new Table("EXPERIMENT", "SAFE", ">FILES", ">OF", ">SIZE", ">OF", "TITLE");
            for (ExperimentCoverage experiment : experiments) {
                table.row(
                        experiment.project() + "/" + experiment.code(),
                        word(experiment),
                        experiment.filesSafe(),
                        experiment.files(),
                        Size.text(experiment.bytesSafe()),
                        Size.text(experiment.bytes()),
                        Connection.visible(experiment.title()));
            }
            table.print(out);
            out.println();
        }
        out.println(sentence(all));
        out.flush();
    }

    /** The answer to "is everything safe?". */
    public static String sentence(Totals all) {
        if (all.experiments() == 0) {
            return "No experiment is registered yet.";
        }
        String sums = "%,d files, %s".formatted(all.filesSafe(), Size.text(all.bytesSafe()));
        if (all.safe()) {
            return all.experiments() == 1
                    ? "The experiment is safe: " + sums + "."
                    : "All %,d experiments are safe: %s.".formatted(all.experiments(), sums);
        }
        return "%,d of %,d experiments are safe, %s; the oldest unprotected data is from %s."
                .formatted(all.experimentsSafe(), all.experiments(), sums, all.oldestUnprotected());
    }

    private static String word(ExperimentCoverage experiment) {
        if (experiment.safe()) {
            return "yes";
        }
        return experiment.manifest() == null ? "not seen yet" : "no";
    }
}
