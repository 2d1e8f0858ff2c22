package dozo.api;

import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.export.Columns;
import dozo.ledger.Sight;
import dozo.worklist.GapKind;
import dozo.worklist.Gaps;
import dozo.worklist.Gaps.Filter;
import dozo.worklist.Gaps.Line;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The gap list: what was planned compared with what arrived. */
@RestController
public class GapApi {

    private static final int SHEET_PAGE = 5_000;

    private static final Columns<Line> COLUMNS = Columns.of(ShownGap.class).in(ShownGap::of);

    private final Gaps gaps;
    private final SiteChoice sites;
    private final Moments moments;
    private final InstantSource clock;

    /**
     * A booking, or a study without a booking, and how the arrival differs from the plan.
     *
     * @param gaps never-scanned, late, partly, split, same-uid-twice, wrong-station, wrong-subject, wrong-day, unplanned; empty: it
     *     arrived as planned, or is not due yet
     * @param accession missing: an unplanned study without an accession number
     * @param date the booked day; of an unplanned study, the day of the scan
     * @param scanner the booked one; of an unplanned study, the one it was acquired on. If none is known with that title or
     *     StationName, the name itself
     * @param subject the code of the booked subject; of an unplanned study, of the scanned subject
     * @param subjectsAcquired the codes of the subjects in the images
     * @param seriesExpected missing: the booking does not say
     * @param copied whether everything that arrived is at the site
     * @param verified whether every entry of its experiment's current manifest has a receipt there; false if unknown
     */
    public record ShownGap(
            List<String> gaps,
            @Nullable LocalDate date,
            @Nullable LocalTime time,
            @Nullable String accession,
            @Nullable String project,
            @Nullable String scanner,
            @Nullable String aeTitle,
            @Nullable String modality,
            String procedure,
            @Nullable String subject,
            List<String> subjectsAcquired,
            @Nullable Integer seriesExpected,
            int series,
            long instances,
            @Nullable Instant arrivedAt,
            @Nullable Instant lastArrivedAt,
            boolean copied,
            boolean verified,
            List<String> studies,
            List<String> experiments) {

        static ShownGap of(Line line) {
            return new ShownGap(
                    line.gaps().stream().map(GapKind::word).toList(),
                    line.day(),
                    line.time(),
                    line.accession(),
                    line.project(),
                    line.scanner(),
                    line.aeTitle(),
                    line.modality(),
                    line.procedure(),
                    line.subject(),
                    line.subjectsAcquired(),
                    line.seriesExpected(),
                    line.series(),
                    line.instances(),
                    line.arrivedAt(),
                    line.lastArrivedAt(),
                    line.copied(),
                    line.verified(),
                    line.studies(),
                    line.experiments());
        }
    }

    GapApi(Gaps gaps, SiteChoice sites, Moments moments, InstantSource clock) {
        this.gaps = gaps;
        this.sites = sites;
        this.moments = moments;
        this.clock = clock;
    }

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
            lineByLine = true,
            exit = "{gaps?}1|0",
            example = "dozo gaps --project P001 --from 2026-10-01")
    @GetMapping("/api/v1/gaps")
    @Nullable
    Page<ShownGap> list(
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
        if (sheet.wanted()) {
            sheet.send(
                    "gaps",
                    COLUMNS,
                    Sheet.paged(
                            SHEET_PAGE,
                            (last, most) -> gaps.page(sight, wanted, id, last == null ? after : last.key(), most)));
            return null;
        }
        return Page.of(limit, most -> gaps.page(sight, wanted, id, after, most), Line::key)
                .map(ShownGap::of);
    }
}
