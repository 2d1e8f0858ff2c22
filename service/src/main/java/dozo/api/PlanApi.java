package dozo.api;

import dozo.ledger.Coverage;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Sight;
import dozo.plan.CostModel;
import dozo.plan.Forecast;
import dozo.plan.Lot;
import dozo.plan.Work;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import dozo.run.CostModels;
import dozo.run.CostModels.KeptModel;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * The forecast of sending everything that is not safe yet at a site, from stored totals: as of the last look at the
 * sources.
 */
@RestController
@RequestMapping("/api/v1/plan")
public record PlanApi(Coverage coverage, CostModels models, SiteChoice sites) {

    private static final int LANES_SHOWN_MAX = 16;

    /**
     * A forecast for a site.
     *
     * @param measurements the number of measurements behind the cost model; 0: the default model
     * @param measuredAt when the last of them ended
     */
    public record ShownPlan(
            String site, int measurements, @Nullable Instant measuredAt, Forecast forecast) {}

    /** Forecasts how long it takes to send what is not safe yet. */
    @GetMapping
    ShownPlan plan(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(defaultValue = "4,8,16") List<Integer> lanes,
            @RequestParam(required = false) @Nullable Integer partitions,
            @RequestParam(required = false) @Nullable Long rate,
            @RequestParam(required = false) @Nullable Long link,
            Sight sight) {
        // NB: two commas without a number between them give null.
        if (lanes.isEmpty() || lanes.size() > LANES_SHOWN_MAX || lanes.contains(null)) {
            throw new Refusal("lanes", "expected 1 to %d numbers", LANES_SHOWN_MAX);
        }
        lanes.forEach(each -> check("lanes", each, Forecast.LANES_MAX));
        if (partitions != null) {
            check("partitions", partitions, Forecast.LANES_MAX);
        }
        if (link != null) {
            check("link", link, Long.MAX_VALUE);
        }
        Site to = sites.needed(site);
        Optional<KeptModel> kept = models.kept(to.id());
        List<Lot> lots = coverage.projects(sight, to.id(), null).stream()
                .map(PlanApi::lot)
                .filter(lot -> lot.experiments() > 0)
                .toList();
        CostModel model = model(kept.map(KeptModel::model).orElse(CostModel.DEFAULT), rate);
        return new ShownPlan(
                to.name(),
                kept.map(KeptModel::measurements).orElse(0),
                kept.map(KeptModel::measuredAt).orElse(null),
                Forecast.of(lots, model, lanes, partitions == null ? 0 : partitions, link));
    }

    private static Lot lot(Totals project) {
        Work work = new Work(
                Math.max(0, project.bytes() - project.bytesSafe()), Math.max(0, project.files() - project.filesSafe()));
        // NB: with those never read, whose files are unknown.
        long experiments = project.experiments() - project.experimentsSafe();
        return new Lot(String.valueOf(project.project()), "", experiments, work);
    }

    private static CostModel model(CostModel measured, @Nullable Long rate) {
        if (rate == null) {
            return measured;
        }
        try {
            return new CostModel(rate.doubleValue(), measured.secondsPerEntry());
        } catch (IllegalArgumentException e) {
            throw new Refusal("rate", "%d: expected 1,000 to 10¹² bytes per second", rate);
        }
    }

    private static void check(String field, long value, long max) {
        if (value < 1 || value > max) {
            throw new Refusal(field, "%d: expected 1 to %d", value, max);
        }
    }
}
