package dozo.ui;

import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.report.Report;
import dozo.report.Reports;
import dozo.report.Teller;
import java.time.LocalDate;
import java.util.Locale;
import java.util.Map;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** What the night before a morning did. */
@Controller
record ReportPage(Reports reports, Teller teller) {

    /** @param typed may have the day of the morning; without it, today */
    @GetMapping("/report")
    String report(@RequestParam Map<String, String> typed, Sight sight, Locale locale, Model model) {
        LocalDate today = reports.today();
        model.addAttribute("today", today);
        model.addAttribute("form", new Form(typed, Map.of()));
        try {
            Report report = reports.of(sight, typed.get("date"));
            LocalDate day = report.day();
            model.addAttribute("day", day);
            model.addAttribute("told", teller.tell(report, locale));
            model.addAttribute(
                    "before",
                    reports.first()
                            .filter(day::isAfter)
                            .map(_ -> day.minusDays(1))
                            .orElse(null));
            model.addAttribute("after", day.isBefore(today) ? day.plusDays(1) : null);
        } catch (Refusal refused) {
            model.addAttribute("form", Form.refused(typed, refused));
        }
        return "report";
    }
}
