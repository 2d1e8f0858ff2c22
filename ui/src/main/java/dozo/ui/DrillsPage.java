package dozo.ui;

import dozo.drill.DrillPromises;
import dozo.drill.RestoreForecasts;
import dozo.drill.RestoreForecasts.Compared;
import dozo.drill.SiteDrills;
import dozo.ledger.Sight;
import dozo.plan.RestoreCost;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.restore.KeptRestore;
import dozo.restore.Restores;
import dozo.ui.PageProblems.NotThere;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Drills: whether each project is rehearsed in its time, the evidence, and how long a restore takes. */
@Controller
@RequestMapping("/drills")
record DrillsPage(
        DrillPromises promises, RestoreForecasts forecasts, Restores restores, Sites sites, SiteDrills siteDrills) {

    private static final int SHOWN = 50;
    private static final int OF_SITES_SHOWN = 10;

    /**
     * Shows the promises, the forecast for a site, and the drills.
     *
     * @param typed may have a project, whose drills are shown, the drill before which they are, and a site
     */
    @GetMapping
    String list(@RequestParam Map<String, String> typed, Sight sight, Model model) {
        Form form = new Form(typed, Map.of());
        String project = form.given("project");
        long before = before(form.value("before"));
        model.addAttribute("form", form);
        model.addAttribute("promises", promises.all(sight));
        model.addAttribute(
                "drills",
                Cut.of(SHOWN, most -> restores.drills(sight, project, before, most), drill -> "" + drill.id()));
        List<Site> all = sites.all();
        model.addAttribute("sites", all.stream().map(Site::name).toList());
        Site site = Choices.site(all, form.given("site"));
        model.addAttribute("site", site);
        model.addAttribute("siteDrills", siteDrills.page(Long.MAX_VALUE, OF_SITES_SHOWN));
        if (site != null) {
            addForecast(sight, site, model);
        }
        return "drills";
    }

    private void addForecast(Sight sight, Site site, Model model) {
        model.addAttribute("cost", forecasts.cost(site.id()).orElse(null));
        model.addAttribute("needed", RestoreCost.RESTORES_MIN);
        model.addAttribute("forecasts", forecasts.projects(sight, site.id()));
        // In the order of their times, which is not that of the drills if the clock was set back.
        Optional<List<Compared>> compared = Charts.tried(() -> forecasts.compared(sight, site.id()).stream()
                .sorted(Comparator.comparing(Compared::endedAt))
                .toList());
        model.addAttribute("compared", compared);
        model.addAttribute(
                "errorPercent", compared.flatMap(Charts::errorPercent).orElse(null));
    }

    private static long before(String typed) {
        try {
            return typed.isEmpty() ? Long.MAX_VALUE : Long.parseLong(typed);
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    @GetMapping("/{id}")
    String drill(@PathVariable long id, Sight sight, Model model) {
        KeptRestore drill = restores.drill(sight, id).orElseThrow(() -> new NotThere("drill %d does not exist", id));
        return RestorePage.show(drill, restores, model);
    }
}
