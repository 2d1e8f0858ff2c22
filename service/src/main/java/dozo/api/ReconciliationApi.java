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
import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What origins listed in a run, compared with what was delivered. */
@RestController
@RequestMapping("/api/v1/runs/{id}")
public class ReconciliationApi {

    private static final int SHEET_PAGE = 1_000;

    private static final Columns<ReportLine> COLUMNS = Columns.of(ReportLine.class);

    private final Runs runs;
    private final Reconciliations reconciliations;

    /**
     * The result of an origin in a run.
     *
     * @param state running, empty (nothing is missing), differs, late (out of time) or unusable
     * @param itemsTold the number of items that the origin lists
     * @param itemsTried the number of items that changed or waited, and were read
     * @param itemsDismissed the number of listed items that are dismissed: not collected, not safe
     * @param filesTold the number of files that the origin lists for those tried items that are experiments
     * @param message why it ended early
     */
    public record ShownReconciliation(
            String origin,
            String state,
            long itemsTold,
            long itemsChanged,
            long itemsTried,
            long itemsComplete,
            long itemsGone,
            long itemsDismissed,
            long filesTold,
            long filesHere,
            long bytesFetched,
            long missing,
            long remarks,
            String message,
            Instant beganAt,
            @Nullable Instant endedAt) {

        static ShownReconciliation of(Report report) {
            return new ShownReconciliation(
                    report.origin(),
                    report.state().name().toLowerCase(Locale.ROOT),
                    report.itemsTold(),
                    report.itemsChanged(),
                    report.itemsTried(),
                    report.itemsComplete(),
                    report.itemsGone(),
                    report.itemsDismissed(),
                    report.filesTold(),
                    report.filesHere(),
                    report.bytesFetched(),
                    report.missing(),
                    report.remarks(),
                    report.message(),
                    report.beganAt(),
                    report.endedAt());
        }
    }

    ReconciliationApi(Runs runs, Reconciliations reconciliations) {
        this.runs = runs;
        this.reconciliations = reconciliations;
    }

    /** Lists the result of each origin in a run, by name. */
    @GetMapping("/origins")
    Page<ShownReconciliation> origins(@PathVariable long id) {
        find(Sight.EVERYTHING, id);
        return new Page<>(
                reconciliations.of(id).stream().map(ShownReconciliation::of).toList(), null);
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
        if (sheet.wanted()) {
            sheet.send(
                    "reconciliation-" + id,
                    COLUMNS,
                    Sheet.paged(
                            SHEET_PAGE,
                            (last, most) ->
                                    reconciliations.lines(sight, id, missing, last == null ? 0 : last.no(), most)));
            return null;
        }
        return Page.of(limit, most -> reconciliations.lines(sight, id, missing, after, most), ReportLine::no);
    }

    private Run find(Sight sight, long id) {
        return runs.find(sight, id).orElseThrow(Missing.thing("run", id));
    }
}
