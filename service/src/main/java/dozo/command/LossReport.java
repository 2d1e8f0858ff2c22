package dozo.command;

import dozo.api.CoverageApi.ShownCoverage;
import dozo.file.Size;
import dozo.verify.Losses;
import java.io.PrintWriter;

/** Shows on a terminal what is lost for good. */
final class LossReport {

    private LossReport() {}

    /** Prints which experiments have lost files; nothing if none has. */
    static void print(PrintWriter out, ShownCoverage coverage) {
        Losses.AllLost lost = coverage.lost();
        if (lost == null || lost.files() == 0) {
            return;
        }
        out.println(
                lost.files() == 1
                        ? "1 file is lost for good: every copy is damaged or missing, and the source no longer has it."
                        : "%,d files are lost for good: every copy is damaged or missing, and the source no longer has them."
                                .formatted(lost.files()));
        lost.first()
                .forEach(each -> out.println("  %s: %,d %s, %s, found damaged at %s"
                        .formatted(
                                each.name(),
                                each.files(),
                                each.files() == 1 ? "file" : "files",
                                Size.text(each.bytes()),
                                each.since())));
        if (lost.experiments() > lost.first().size()) {
            out.println("  and %,d more experiments"
                    .formatted(lost.experiments() - lost.first().size()));
        }
        out.flush();
    }
}
