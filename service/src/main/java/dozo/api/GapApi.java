package dozo.api;

import dozo.api.Sheet.Column;
import dozo.ledger.Sight;
import dozo.registry.WrittenDay;
import dozo.worklist.GapKind;
import dozo.worklist.Gaps;
import dozo.worklist.Gaps.Line;
import dozo.worklist.Gaps.Wanted;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The gap list: what was planned beside what arrived. */
@RestController
class GapApi {

    private static final int SHEET_PAGE = 5_000;

    private static final List<Column<Line>> COLUMNS = List.of(
            new Column<>("gaps", line -> String.join(" ", words(line))),
            new Column<>("date", Line::day),
            new Column<>("time", Line::time),
            new Column<>("accession", Line::accession),
            new Column<>("project", Line::project),
            new Column<>("scanner", Line::scanner),
            new Column<>("aeTitle", Line::aeTitle),
            new Column<>("modality", Line::modality),
            new Column<>("procedure", Line::procedure),
            new Column<>("subject", Line::subject),
            new Column<>("subjectsAcquired", line -> String.join(" ", line.subjectsAcquired())),
            new Column<>("seriesExpected", Line::seriesExpected),
            new Column<>("series", Line::series),
            new Column<>("instances", Line::instances),
            new Column<>("arrivedAt", Line::arrivedAt),
            new Column<>("lastArrivedAt", Line::lastArrivedAt),
            new Column<>("copied", Line::copied),
            new Column<>("verified", Line::verified),
            new Column<>("studies", line -> String.join(" ", line.studies())),
            new Column<>("experiments", line -> String.join(" ", line.experiments())));

    private final Gaps gaps;
    private final SiteChoice sites;
    private final Moments moments;
    private final InstantSource clock;

    /**
     * A booking, or a study that belongs to none, and where what arrived differs from it.
     *
     * @param gaps never-scanned, late, partly, split, same-uid-twice, wrong-station, wrong-subject, wrong-day, unplanned; none: it
     *     is as planned, or not due yet
     * @param accession missing where it was not planned and the images have none
     * @param date that it is booked for; of an unplanned study, when it was scanned
     * @param subject the code of the subject that it is booked for; of an unplanned study, that was scanned
     * @param subjectsAcquired the codes of the subjects whose images arrived, as these say
     * @param seriesExpected missing where the booking does not say
     * @param copied whether all that arrived lies at the site
     * @param verified whether every entry of its experiment's current manifest has a receipt there; what is not known is false
     */
    record ShownGap(
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
                    words(line),
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

    /** The bookings that did not come as planned, and what came unplanned, by day. */
    @GetMapping("/api/v1/gaps")
    @Nullable
    Page<ShownGap> list(
            @RequestParam(required = false) @Nullable String plannedFrom,
            @RequestParam(required = false) @Nullable String plannedUntil,
            @RequestParam(required = false) @Nullable String asOf,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String kind,
            @RequestParam(defaultValue = "false") boolean all,
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        Instant at = moments.endOrNull("asOf", asOf);
        Wanted wanted = new Wanted(
                day("plannedFrom", plannedFrom),
                day("plannedUntil", plannedUntil),
                at == null ? clock.instant() : at,
                project,
                kind == null ? null : GapKind.of(kind),
                all);
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

    private static List<String> words(Line line) {
        return line.gaps().stream().map(GapKind::word).toList();
    }

    private static @Nullable LocalDate day(String field, @Nullable String text) {
        return text == null ? null : WrittenDay.ofIso(field, text);
    }
}
