package dozo.ui;

import dozo.audit.AuditReports;
import dozo.ledger.Sight;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.support.RedirectAttributes;

/** The audit report, on screen and on paper: what was safe at the end of a day, the evidence, and what was open. */
@Controller
record AuditReportPage(AuditReports reports, Projects projects, Days days) {

    @GetMapping("/audit/report")
    String report(@RequestParam Map<String, String> typed, Sight sight, Model model) {
        try {
            return shown(new Form(typed, Map.of()), sight, model);
        } catch (Refusal refused) {
            model.addAttribute("form", Form.refused(typed, refused));
            model.addAttribute("report", null);
            return "auditreport";
        }
    }

    /** Redirects from the address of the former report to print. */
    @GetMapping(path = "/audit", params = "report=true")
    static String former(@RequestParam(defaultValue = "") String asOf, RedirectAttributes query) {
        query.addAttribute("at", asOf);
        return "redirect:/audit/report";
    }

    private String shown(Form form, Sight sight, Model model) {
        String project = form.given("project");
        if (project != null && (!sight.sees(project) || projects.find(project).isEmpty())) {
            throw new Refusal("project", "project \"%s\" does not exist", project);
        }
        model.addAttribute("form", form);
        model.addAttribute("everything", sight.ofEverything());
        model.addAttribute("report", reports.of(sight, project, end(form.value("at"))));
        return "auditreport";
    }

    /** Returns the end of a day; null for today or without a day: now. */
    private @Nullable Instant end(String typed) {
        LocalDate day = days.past("at", typed);
        return day == null || day.equals(days.today()) ? null : days.begin(day.plusDays(1));
    }
}
