package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.collect.Reconciliations;
import dozo.collect.Reconciliations.Report;
import dozo.collect.Reconciliations.ReportLine;
import dozo.export.Columns;
import dozo.ledger.Sight;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What origins listed in a run, compared with what was delivered. */
@RestController
@RequestMapping("/api/v1/runs/{id}")
public record ReconciliationApi(Runs runs, Reconciliations reconciliations) {

    private static final Columns<ReportLine> COLUMNS = Columns.of(ReportLine.class);

    /** Lists the result of each origin in a run, by name. */
    @GetMapping("/origins")
    Page<Report> origins(@PathVariable long id) {
        find(Sight.EVERYTHING, id);
        return new Page<>(reconciliations.of(id), null);
    }

    /** Lists what origins listed but did not deliver, and remarks, in the order of detection. */
    @GetMapping("/reconciliation")
    @Nullable
    Page<ReportLine> lines(
            @PathVariable long id,
            @RequestParam(required = false) @Nullable Boolean missing,
            @RequestParam(defaultValue = "0") long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        find(sight, id);
        return sheet.page(
                "reconciliation-" + id,
                COLUMNS,
                after,
                limit,
                (last, most) -> reconciliations.lines(sight, id, missing, last, most),
                ReportLine::no);
    }

    private Run find(Sight sight, long id) {
        return runs.find(sight, id).orElseThrow(Missing.thing("run", id));
    }
}
