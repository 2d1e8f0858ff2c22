package dozo.api;

import dozo.api.http.Missing;
import dozo.audit.AuditReport;
import dozo.audit.AuditReports;
import dozo.ledger.Sight;
import dozo.registry.Projects;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Reports for auditors: coverage at a moment, and its evidence. */
@RestController
@RequestMapping("/api/v1/audit")
public class AuditApi {

    private final AuditReports reports;
    private final Projects projects;
    private final Moments moments;

    AuditApi(AuditReports reports, Projects projects, Moments moments) {
        this.reports = reports;
        this.projects = projects;
        this.moments = moments;
    }

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

    private void checkProject(@Nullable String project, Sight sight) {
        if (project != null && (!sight.sees(project) || projects.find(project).isEmpty())) {
            throw Missing.thing("project", project).get();
        }
    }
}
