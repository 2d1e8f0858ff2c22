package dozo.command;

import dozo.audit.AuditReport;
import dozo.audit.AuditReport.AtSite;
import dozo.ledger.Coverage.Group;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

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
                "WHEN: such as yesterday, 7d, 2026-11-28 (its end) or \"2026-11-28 14:00\", in this machine's time zone.",
                "Exit code 0: everything was safe at every site, and nothing was open. 1: it was not."
            })
    int report(
            @Mixin Connection service,
            @Option(names = "--project", paramLabel = "P", description = "Only this project.") @Nullable String project,
            @Option(
                            names = {"--at", "--as-of"},
                            paramLabel = "WHEN",
                            description = "The state at the end of a day, or at a time; default: now.",
                            converter = When.End.class)
                    @Nullable
                    String at) {
        Answer<AuditReport> answer = service.get(
                new Query(ADDRESS + "/report")
                        .with("project", project)
                        .with("at", at)
                        .toString(),
                AuditReport.class);
        AuditReport report = answer.value();
        service.print(answer, out -> print(out, report, answer.sent()));
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
            @Option(
                            names = {"--at", "--as-of"},
                            paramLabel = "WHEN",
                            description = "The state at the end of a day, or at a time; default: now.",
                            converter = When.End.class)
                    @Nullable
                    String at) {
        service.printCsv(new Query(ADDRESS + "/files")
                .with("project", project)
                .with("site", site)
                .with("at", at));
        return Exit.WELL;
    }

    private static void print(PrintWriter out, AuditReport report, JsonNode sent) {
        Phrase.print(out, sent, "[Project {project}|All projects] at {at}");
        if (report.nothingRegistered()) {
            Phrase.print(
                    out,
                    sent,
                    "Nothing was registered then; the first experiment was registered at {registeredSince}."
                            + "|No experiment is registered.");
        }
        Phrase.print(out, sent, "{erasedSince?}Erased since, and not counted: {erasedSince number}");
        for (int i = 0; i < report.sites().size(); i++) {
            print(out, report, report.sites().get(i), sent.path("sites").path(i));
        }
        if (report.sites().isEmpty()) {
            out.println("There was no site.");
        }
        out.println();
        Phrase.print(out, sent, "{lost?}LOST for good: {lost number} files");
        if (!report.findingsComplete()) {
            out.println("Findings of that time are not kept completely; there may have been more.");
        }
        Phrase.print(
                out,
                sent,
                "Ledger: [row {ledger.head.seq}, {ledger.head.at}, {ledger.head.hash}|none]",
                "{ledger.clockChanged?}  The clock was changed: rows before it have later times, or rows after it earlier ones.",
                "  last verified {ledger.verification.beganAt}: {ledger.verification.verdict},"
                        + " {ledger.verification.rowsChecked number} rows|  never verified",
                "  {ledger.verification.sentence}",
                "Certificates: {certificates.count number}");
        sent.at("/certificates/keys")
                .forEach(key -> Phrase.print(out, key, "  key      {fingerprint}, since {introducedAt}"));
    }

    private static void print(PrintWriter out, AuditReport report, AtSite site, JsonNode sent) {
        out.println();
        Phrase.print(out, sent, "Site {site}");
        if (site.recordedSince() == null || report.at().isBefore(site.recordedSince())) {
            Phrase.print(
                    out,
                    sent,
                    "The record of this site begins {recordedSince}; what was safe earlier is unknown."
                            + "|Nothing is recorded of this site.");
        }
        CoverageTable.groups(
                out,
                "project",
                site.projects().stream()
                        .map(each -> new Group(each.project(), each.totals()))
                        .toList(),
                site.totals());
        out.println();
        Table.of(
                        sent.path("projects").valueStream().toList(),
                        "PROJECT={project}",
                        ">RECEIPTS={evidence.receipts number}",
                        "LAST VERIFIED={evidence.lastVerifiedAt}",
                        "OLDEST READING={evidence.leastRecentlyReadAt}",
                        ">DRILLS={evidence.drills number}",
                        ">COMPLETE={evidence.drillsComplete number}",
                        ">MISSING={evidence.copiesMissing number}",
                        ">DAMAGED={evidence.copiesDamaged number}",
                        ">FINDINGS={evidence.findings number}")
                .print(out);
        Phrase.print(
                out,
                sent,
                "{findingsOfRuns?}Open findings of whole runs: {findingsOfRuns number}",
                "Last anchor: [row {anchor.seq}, {anchor.at}, {anchor.hash}|none]");
    }
}
