package dozo.ui;

import dozo.ledger.Sight;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.run.Forecasts;
import dozo.run.Forecasts.Made;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.ui.PageProblems.NotThere;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;

/** What a night will have verified by the end of its window, and what an earlier one had. */
@Controller
record ForecastPage(Forecasts forecasts, Sites sites, Runs runs) {

    private static final int SHOWN = 500;

    @GetMapping("/sites/{name}/forecast")
    String now(@PathVariable String name, Sight sight, Model model) {
        Site site = sites.find(name).orElseThrow(() -> new NotThere("site \"%s\" does not exist", name));
        return show(forecasts.now(sight, site.id()), site.name(), null, sight, model);
    }

    @GetMapping("/runs/{id}/forecast")
    String ofRun(@PathVariable long id, Sight sight, Model model) {
        Run run = runs.find(sight, id).orElseThrow(() -> new NotThere("run %d does not exist", id));
        Made made = forecasts.of(sight, id).orElseThrow(() -> new NotThere("run %d has no forecast", id));
        return show(made, run.site(), run, sight, model);
    }

    private static String show(Made made, String site, @Nullable Run run, Sight sight, Model model) {
        model.addAttribute("site", site);
        model.addAttribute("run", run);
        model.addAttribute("outlook", made.outlook());
        model.addAttribute("nights", made.nights());
        model.addAttribute("enough", Charts.enough(made.outlook().experiments(), made.nights()));
        model.addAttribute("everything", sight.ofEverything());
        model.addAttribute("atRisk", made.outlook().outcome() == null ? made.atRisk() : List.of());
        model.addAttribute("experiments", made.lines().stream().limit(SHOWN).toList());
        model.addAttribute("more", made.lines().size() > SHOWN);
        return "forecast";
    }
}
