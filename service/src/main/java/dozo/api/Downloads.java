package dozo.api;

import dozo.api.http.Sheet;
import dozo.file.Problem;
import dozo.ledger.Dimension;
import dozo.ledger.Sight;
import dozo.registry.ExperimentOrder;
import dozo.registry.ExperimentSearch.State;
import dozo.worklist.GapKind;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * REST's sheets for users who have logged in to the pages. REST has no sessions, so a link on a page cannot lead there.
 * The same code writes these files, whatever the browser accepts. A parameter without a value counts as omitted.
 */
@RestController
@RequestMapping(produces = MediaType.ALL_VALUE)
record Downloads(
        CoverageApi coverage,
        LedgerApi ledger,
        GapApi gaps,
        ReconciliationApi reconciliations,
        FreezeApi freezes,
        ExperimentApi experiments,
        FindingApi findings,
        RunApi runs,
        DrillApi drills,
        HoldApi holds) {

    @GetMapping("/audit/coverage.csv")
    void coverage(
            @RequestParam(defaultValue = "project") Dimension by,
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(required = false) @Nullable String asOf,
            Sight sight,
            Sheet sheet) {
        coverage.groups(by, given(site), given(asOf), "", 1, sight, sheet);
    }

    @GetMapping("/audit/changes.csv")
    void changes(
            @RequestParam String from,
            @RequestParam String until,
            @RequestParam(defaultValue = "project") Dimension by,
            @RequestParam(required = false) @Nullable String site,
            Sight sight,
            Sheet sheet) {
        coverage.changes(from, until, by, given(site), sight, sheet);
    }

    @GetMapping("/audit/ledger.csv")
    void ledger(
            @RequestParam(required = false) @Nullable String subject,
            @RequestParam(required = false) @Nullable String action,
            @RequestParam(required = false) @Nullable String actor,
            @RequestParam(required = false) @Nullable String from,
            @RequestParam(required = false) @Nullable String until,
            Sheet sheet) {
        ledger.list(given(subject), given(action), given(actor), given(from), given(until), 0, 1, sheet);
    }

    @GetMapping("/audit/waits.csv")
    void waits(
            @RequestParam String from,
            @RequestParam String until,
            @RequestParam(defaultValue = "project") Dimension by,
            @RequestParam(required = false) @Nullable String site,
            Sight sight,
            Sheet sheet) {
        coverage.waits(from, until, by, given(site), sight, sheet);
    }

    @GetMapping("/experiments/{project}/{code}/frozen.csv")
    void frozen(@PathVariable String project, @PathVariable String code, Sheet sheet) {
        freezes.list(project, code, 0, 1, sheet);
    }

    @GetMapping("/experiments.csv")
    void experiments(@RequestParam Map<String, String> asked, Sight sight, Sheet sheet) {
        String state = given(asked.get("state"));
        String sort = given(asked.get("sort"));
        experiments.list(
                given(asked.get("q")),
                given(asked.get("project")),
                given(asked.get("modality")),
                given(asked.get("scanner")),
                ExperimentApi.day("from", given(asked.get("from"))),
                ExperimentApi.day("until", given(asked.get("until"))),
                state == null ? null : State.of(state),
                given(asked.get("site")),
                given(asked.get("source")),
                false,
                sort == null ? null : ExperimentOrder.of(sort),
                "0",
                1,
                sight,
                sheet);
    }

    @GetMapping("/gaps.csv")
    void gaps(
            @RequestParam(required = false) @Nullable String from,
            @RequestParam(required = false) @Nullable String until,
            @RequestParam(required = false) @Nullable String asOf,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String kind,
            @RequestParam(defaultValue = "false") boolean all,
            @RequestParam(required = false) @Nullable String site,
            Sight sight,
            Sheet sheet) {
        String word = given(kind);
        gaps.list(
                ExperimentApi.day("plannedFrom", given(from)),
                ExperimentApi.day("plannedUntil", given(until)),
                given(asOf),
                given(project),
                word == null ? null : GapKind.of(word),
                all,
                given(site),
                "",
                1,
                sight,
                sheet);
    }

    @GetMapping("/findings.csv")
    void findings(
            @RequestParam(required = false) @Nullable Problem reason,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String experiment,
            @RequestParam(required = false) @Nullable Long run,
            @RequestParam(defaultValue = "false") boolean all,
            Sight sight,
            Sheet sheet) {
        findings.list(all ? null : true, reason, given(project), given(experiment), run, null, 1, sight, sheet);
    }

    @GetMapping("/runs.csv")
    void runs(Sight sight, Sheet sheet) {
        runs.list(null, 1, sight, sheet);
    }

    @GetMapping("/drills.csv")
    void drills(@RequestParam(required = false) @Nullable String project, Sight sight, Sheet sheet) {
        drills.list(given(project), null, 1, sight, sheet);
    }

    @GetMapping("/holds.csv")
    void holds(Sight sight, Sheet sheet) {
        holds.list(true, null, 1, sight, sheet);
    }

    @GetMapping("/runs/{id}/reconciliation.csv")
    void reconciliation(
            @PathVariable long id,
            @RequestParam(required = false) @Nullable Boolean missing,
            Sight sight,
            Sheet sheet) {
        reconciliations.lines(id, missing, 0, 1, sight, sheet);
    }

    private static @Nullable String given(@Nullable String text) {
        return text == null || text.isBlank() ? null : text;
    }
}
