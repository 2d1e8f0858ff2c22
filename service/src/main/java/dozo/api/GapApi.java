package dozo.api;

import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.export.Columns;
import dozo.ledger.Sight;
import dozo.worklist.GapKind;
import dozo.worklist.Gaps;
import dozo.worklist.Gaps.Filter;
import dozo.worklist.Gaps.Gap;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The gap list: what was planned compared with what arrived. */
@RestController
public record GapApi(Gaps gaps, SiteChoice sites, Moments moments, InstantSource clock) {

    private static final Columns<Gap> COLUMNS = Columns.of(Gap.class);

    /** Lists bookings that did not arrive as planned, and unplanned arrivals, by day. */
    @Verb(
            value =
                    "gaps [--from=DAY:plannedFrom] [--until=DAY:plannedUntil] [--as-of=WHEN] [--project=P] [--kind=K] [--all] [--site=S] [--csv:-]",
            arguments = {
                "--until=planned on that day or earlier",
                "--kind=only never-scanned, late, partly, split, same-uid-twice, wrong-station, wrong-subject, wrong-day or unplanned",
                "--all=every booking, also those without a gap",
                "--csv=prints CSV with all columns"
            },
            footer = "Exit code 0: no findings. 1: findings.",
            columns = {
                "DAY={date}[ {time}]|",
                "ACCESSION={accession}|",
                "PROJECT={project}|",
                "STATION={aeTitle}|",
                ">SERIES={series}[/{seriesExpected}]",
                "KEPT={verified?}verified|{copied?}copied|",
                "GAP={gaps list}[{gaps=wrong-subject?} (booked {subject}, acquired {subjectsAcquired list})]|"
            },
            total = "{count number} with a gap",
            none = "No gap is known. `dozo gaps --all` lists the bookings: without one, nothing can be compared.",
            lineByLine = true,
            exit = "{gaps?}1|0",
            example = "dozo gaps --project P001 --from 2026-10-01")
    @GetMapping("/api/v1/gaps")
    @Nullable
    Page<Gap> list(
            @RequestParam(required = false) @Nullable LocalDate plannedFrom,
            @RequestParam(required = false) @Nullable LocalDate plannedUntil,
            @RequestParam(required = false) @Nullable String asOf,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable GapKind kind,
            @RequestParam(defaultValue = "false") boolean all,
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        Instant at = moments.endOrNull("asOf", asOf);
        Filter wanted = new Filter(plannedFrom, plannedUntil, at == null ? clock.instant() : at, project, kind, all);
        int id = sites.idOf(site);
        return sheet.page(
                "gaps", COLUMNS, after, limit, (last, most) -> gaps.page(sight, wanted, id, last, most), Gap::key);
    }
}
