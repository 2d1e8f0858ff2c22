package dozo.ui;

import dozo.ledger.Sight;
import dozo.registry.ExperimentSearch;
import dozo.registry.ExperimentSearch.Filter;
import dozo.registry.ExperimentSearch.Found;
import dozo.registry.ExperimentSearch.State;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.registry.WrittenDay;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Searches for experiments: while the user types, or by a plain form. */
@Controller
class ExperimentsPage {

    private static final int SHOWN = 50;

    private final ExperimentSearch search;
    private final Sites sites;
    private final Choices choices;

    ExperimentsPage(ExperimentSearch search, Sites sites, Choices choices) {
        this.search = search;
        this.sites = sites;
        this.choices = choices;
    }

    @GetMapping("/experiments")
    String experiments(
            @RequestParam Map<String, String> asked,
            @RequestParam(defaultValue = "0") int after,
            Sight sight,
            Model model) {
        Map<String, String> typed = asked.entrySet().stream()
                .filter(each -> !each.getValue().isBlank())
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
        List<Site> all = sites.all();
        Site site = all.stream()
                .filter(each -> !typed.containsKey("site") || each.name().equals(typed.get("site")))
                .findFirst()
                .orElse(null);
        choices.addTo(model, sight);
        model.addAttribute("states", State.values());
        model.addAttribute("sites", all);
        model.addAttribute("site", site);
        model.addAttribute("first", after == 0 ? null : "");
        model.addAttribute("asked", !typed.isEmpty());
        try {
            addFound(model, sight, wanted(typed), site == null ? Sites.NO_SITE : site.id(), after);
            model.addAttribute("form", new Form(typed, Map.of()));
        } catch (Refusal refused) {
            model.addAttribute("found", new Cut<Found>(List.of(), null));
            model.addAttribute("form", Form.refused(typed, refused));
        }
        return "experiments";
    }

    private void addFound(Model model, Sight sight, Filter wanted, int siteId, int after) {
        Cut<Found> found = Cut.of(
                SHOWN,
                most -> search.page(sight, wanted, siteId, after, most),
                each -> String.valueOf(each.experiment().id()));
        model.addAttribute("found", found);
    }

    private static Filter wanted(Map<String, String> typed) {
        String state = typed.get("state");
        return new Filter(
                typed.get("q"),
                typed.get("project"),
                typed.get("modality"),
                typed.get("scanner"),
                day("from", typed.get("from")),
                day("until", typed.get("until")),
                state == null ? null : State.of(state));
    }

    static @Nullable LocalDate day(String field, @Nullable String text) {
        return text == null || text.isBlank() ? null : WrittenDay.ofIso(field, text);
    }
}
