package dozo.ui;

import dozo.collect.Reconciliations;
import dozo.collect.Reconciliations.ReportLine;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.ui.PageProblems.NotThere;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;

/** What origins listed in a run but did not deliver, line by line; then the remarks. */
@Controller
record ReconciliationPage(Runs runs, Reconciliations reconciliations) {

    private static final int SHOWN = 100;

    /** Prefix of a remark's key. Remarks come after all missing items. */
    private static final String REMARK = "r";

    /** @param missing whether to leave out remarks */
    @GetMapping("/runs/{id}/reconciliation")
    String list(
            @PathVariable long id,
            @RequestParam(defaultValue = "") String origin,
            @RequestParam(defaultValue = "false") boolean missing,
            @RequestParam(defaultValue = "0") String after,
            Sight sight,
            Model model) {
        Run run = runs.find(sight, id).orElseThrow(() -> new NotThere("run %d does not exist", id));
        if (!after.matches("r?[0-9]{1,18}")) {
            throw new Refusal("after", "\"%s\": unknown page", after);
        }
        String asked = origin.isEmpty() ? null : origin;
        model.addAttribute("run", run);
        model.addAttribute("everything", sight.ofEverything());
        model.addAttribute("reports", sight.ofEverything() ? reconciliations.of(id) : List.of());
        model.addAttribute("origin", origin);
        model.addAttribute("missing", missing);
        model.addAttribute(
                "lines", Cut.of(SHOWN, most -> lines(sight, id, asked, missing, after, most), ReconciliationPage::key));
        return "reconciliation";
    }

    private List<ReportLine> lines(
            Sight sight, long id, @Nullable String origin, boolean missing, String after, int most) {
        List<ReportLine> lines = new ArrayList<>();
        boolean atRemarks = after.startsWith(REMARK);
        if (!atRemarks) {
            lines.addAll(reconciliations.lines(sight, id, origin, true, Long.parseLong(after), most));
        }
        if (!missing && lines.size() < most) {
            long last = atRemarks ? Long.parseLong(after.substring(REMARK.length())) : 0;
            lines.addAll(reconciliations.lines(sight, id, origin, false, last, most - lines.size()));
        }
        return lines;
    }

    private static String key(ReportLine line) {
        return (line.missing() ? "" : REMARK) + line.no();
    }
}
