package dozo.command;

import dozo.audit.AuditReport;
import dozo.audit.AuditReport.AtSite;
import dozo.audit.AuditReport.ChainRow;
import dozo.audit.AuditReport.Evidence;
import dozo.audit.AuditReport.InProject;
import dozo.audit.AuditReport.LedgerThen;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Reports for auditors. */
@Command(name = "audit", mixinStandardHelpOptions = true, description = "For auditors: report, files.")
final class AuditCommand {

    private static final String ADDRESS = "/api/v1/audit";

    @Command(
            name = "report",
            mixinStandardHelpOptions = true,
            description = "Shows what was safe at a moment, the evidence for it, and what was open.",
            footer = {
                "",
                "A day means its end, in the service's time zone. A time such as 2026-10-01T15:00:00Z also works.",
                "Exit code 0: everything was safe at every site, and nothing was open. 1: it was not."
            })
    int report(
            @Mixin Connection service,
            @Option(names = "--project", paramLabel = "P", description = "Only this project.") @Nullable String project,
            @Option(names = "--at", paramLabel = "DAY", description = "The state at the end of a day; default: now.")
                    @Nullable
                    String at) {
        Answer<AuditReport> answer = service.get(
                new Query(ADDRESS + "/report")
                        .with("project", project)
                        .with("at", at)
                        .toString(),
                AuditReport.class);
        AuditReport report = answer.value();
        service.print(answer, out -> print(out, report));
        return report.allWell() ? Exit.WELL : Exit.NOT_SAFE;
    }

    @Command(
            name = "files",
            mixinStandardHelpOptions = true,
            description =
                    "Prints the evidence of every file at a moment as CSV: digest, time, method, last reading, state.")
    int files(
            @Mixin Connection service,
            @Option(names = "--project", paramLabel = "P", description = "Only this project.") @Nullable String project,
            @Option(names = "--site", paramLabel = "S", description = "The site; optional if there is only one.")
                    @Nullable
                    String site,
            @Option(names = "--at", paramLabel = "DAY", description = "The state at the end of a day; default: now.")
                    @Nullable
                    String at) {
        service.printCsv(new Query(ADDRESS + "/files")
                .with("project", project)
                .with("site", site)
                .with("at", at));
        return Exit.WELL;
    }

    private static void print(PrintWriter out, AuditReport report) {
        out.println("%s at %s"
                .formatted(
                        report.project() == null ? "All projects" : "Project " + report.project(),
                        Times.text(report.at())));
        if (report.nothingRegistered()) {
            out.println(
                    report.registeredSince() == null
                            ? "No experiment is registered."
                            : "Nothing was registered then; the first experiment was registered at %s."
                                    .formatted(Times.text(report.registeredSince())));
        }
        if (report.erasedSince() > 0) {
            out.println("Erased since, and not counted: %,d".formatted(report.erasedSince()));
        }
        report.sites().forEach(site -> print(out, report, site));
        if (report.sites().isEmpty()) {
            out.println("There was no site.");
        }
        out.println();
        if (report.lost() > 0) {
            out.println("LOST for good: %,d files".formatted(report.lost()));
        }
        if (!report.findingsComplete()) {
            out.println("Findings of that time are not kept completely; there may have been more.");
        }
        print(out, report.ledger());
        out.println("Certificates: %,d".formatted(report.certificates().count()));
        report.certificates()
                .keys()
                .forEach(key -> out.println(
                        "  key      %s, since %s".formatted(key.fingerprint(), Times.text(key.introducedAt()))));
    }

    private static void print(PrintWriter out, AuditReport report, AtSite site) {
        out.println();
        out.println("Site %s".formatted(site.site()));
        if (site.recordedSince() == null || report.at().isBefore(site.recordedSince())) {
            out.println(
                    site.recordedSince() == null
                            ? "Nothing is recorded of this site."
                            : "The record of this site begins %s; what was safe earlier is unknown."
                                    .formatted(Times.text(site.recordedSince())));
        }
        CoverageTable.groups(
                out,
                "project",
                site.projects().stream()
                        .map(each -> new dozo.ledger.Coverage.Group(each.project(), each.totals()))
                        .toList(),
                site.totals());
        out.println();
        evidence(site).print(out);
        if (site.findingsOfRuns() > 0) {
            out.println("Open findings of whole runs: %,d".formatted(site.findingsOfRuns()));
        }
        out.println("Last anchor: %s".formatted(row(site.anchor())));
    }

    private static Table evidence(AtSite site) {
        Table table = new Table(
                "PROJECT",
                ">RECEIPTS",
                "LAST VERIFIED",
                "OLDEST READING",
                ">DRILLS",
                ">COMPLETE",
                ">MISSING",
                ">DAMAGED",
                ">FINDINGS");
        for (InProject each : site.projects()) {
            Evidence evidence = each.evidence();
            table.row(
                    each.project(),
                    evidence.receipts(),
                    Times.text(evidence.lastVerifiedAt()),
                    Times.text(evidence.leastRecentlyReadAt()),
                    evidence.drills(),
                    evidence.drillsComplete(),
                    evidence.copiesMissing(),
                    evidence.copiesDamaged(),
                    evidence.findings());
        }
        return table;
    }

    private static void print(PrintWriter out, LedgerThen ledger) {
        out.println("Ledger: %s".formatted(row(ledger.head())));
        if (ledger.clockChanged()) {
            out.println("  The clock was changed: rows before it have later times, or rows after it earlier ones.");
        }
        out.println(
                ledger.verification() == null
                        ? "  never verified"
                        : "  last verified %s: %s, %,d rows"
                                .formatted(
                                        Times.text(ledger.verification().beganAt()),
                                        ledger.verification().verdict(),
                                        ledger.verification().rowsChecked()));
    }

    private static String row(@Nullable ChainRow row) {
        return row == null ? "none" : "row %d, %s, %s".formatted(row.seq(), Times.text(row.at()), row.hash());
    }
}
