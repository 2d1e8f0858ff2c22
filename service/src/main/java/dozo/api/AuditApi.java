package dozo.api;

import dozo.api.http.Sheet;
import dozo.audit.AuditReport;
import dozo.audit.AuditReports;
import dozo.audit.FileEvidence;
import dozo.audit.FileEvidence.FileLine;
import dozo.export.Columns;
import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Reports for auditors: coverage at a moment, and its evidence. */
@RestController
@RequestMapping("/api/v1/audit")
public record AuditApi(
        AuditReports reports,
        FileEvidence evidence,
        Projects projects,
        SiteChoice sites,
        Moments moments,
        InstantSource clock) {

    /**
     * Shows what was safe, how that is known, and what was open.
     *
     * @param project only this one; missing: all that the user may see
     * @param at a day means its end; missing: now
     */
    @GetMapping("/report")
    AuditReport report(
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String at,
            Sight sight) {
        Instant then = moments.endOrNull("at", at);
        checkProject(project, sight);
        return reports.of(sight, project, then);
    }

    /**
     * Sends the evidence of every file, folder and link as CSV, through a cursor: the response may have millions of lines.
     *
     * @param project only this one; missing: all that the user may see
     * @param site missing: the only one
     * @param at a day means its end; missing: now
     */
    @GetMapping(path = "/files", produces = Sheet.TYPE)
    void files(
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(required = false) @Nullable String at,
            Sight sight,
            Sheet sheet) {
        Instant then = Objects.requireNonNullElseGet(moments.endOrNull("at", at), clock::instant);
        int siteId = sites.idOf(site);
        checkProject(project, sight);
        Sight seen = project == null ? sight : Sight.of(List.of(project));
        sheet.send("evidence", Columns.of(FileLine.class), line -> evidence.each(seen, siteId, then, line));
    }

    private void checkProject(@Nullable String project, Sight sight) {
        if (project != null && (!sight.sees(project) || projects.find(project).isEmpty())) {
            throw Experiments.noProject(project);
        }
    }
}
