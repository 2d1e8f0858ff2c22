package dozo.ui;

import dozo.ledger.Sight;
import dozo.registry.ExperimentOrder;
import dozo.registry.ExperimentOrder.Place;
import dozo.registry.ExperimentOrder.Sort;
import dozo.registry.ExperimentSearch;
import dozo.registry.ExperimentSearch.Filter;
import dozo.registry.ExperimentSearch.Found;
import dozo.registry.ExperimentSearch.State;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.ui.Operation.Each;
import jakarta.servlet.http.HttpServletRequest;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/**
 * Searches for experiments: while the user types, or by a plain form. Filters, order and place are in the address and
 * nowhere else, so that a list can be bookmarked.
 */
@Controller
record ExperimentsPage(ExperimentSearch search, Sites sites, Choices choices, OperationCalls calls) {

    private static final int SHOWN = 50;

    private static final List<Sort> COLUMNS = List.of(
            Sort.TITLE,
            Sort.NAME,
            Sort.STATE,
            Sort.MODALITY,
            Sort.SCANNER,
            Sort.ACQUIRED,
            Sort.FILES,
            Sort.SIZE,
            Sort.SAFE);

    /** A search: the site whose states it shows, what it selects, and the order. */
    private record Wanted(@Nullable Site site, Filter filter, ExperimentOrder order) {

        int siteId() {
            return site == null ? Sites.NO_SITE : site.id();
        }
    }

    /**
     * One page of the list.
     *
     * @param begins whether it is the first page
     * @param before the place before which the previous page ends; null if there is none
     */
    private record Shown(
            Cut<Found> found, boolean begins, @Nullable String before) {}

    @GetMapping("/experiments")
    String experiments(@RequestParam Map<String, String> asked, HttpServletRequest request, Sight sight, Model model) {
        Map<String, String> typed = given(asked);
        List<Site> all = sites.all();
        choices.addTo(model, sight);
        model.addAttribute("scanners", search.scanners(sight));
        model.addAttribute("states", State.values());
        model.addAttribute("columns", COLUMNS);
        Viewer viewer = Viewer.of(request);
        model.addAttribute(
                "offered",
                SelectedPage.OFFERED.keySet().stream()
                        .flatMap(page -> Stream.ofNullable(calls.all().get(page)))
                        .filter(each -> each.each() != Each.NONE && viewer.may("POST", each.page()))
                        .toList());
        model.addAttribute("most", SelectedPage.MOST);
        model.addAttribute("sites", all);
        model.addAttribute("asked", !typed.isEmpty());
        model.addAttribute("sources", typed.containsKey("source") || typed.containsKey("sources"));
        try {
            Wanted wanted = wanted(typed, all);
            add(model, shown(sight, wanted, typed), wanted.site, wanted.order);
            model.addAttribute("sums", search.sums(sight, wanted.filter, wanted.siteId()));
            model.addAttribute("form", new Form(typed, Map.of()));
        } catch (Refusal refused) {
            Site first = all.isEmpty() ? null : all.getFirst();
            add(model, new Shown(new Cut<>(List.of(), null), true, null), first, ExperimentOrder.REGISTERED);
            model.addAttribute("form", Form.refused(typed, refused));
        }
        return "experiments";
    }

    /**
     * Returns the experiments that a search finds, by id.
     *
     * @param query of the list's address
     * @throws Refusal if it is no search
     */
    static List<Experiment> found(ExperimentSearch search, List<Site> sites, Sight sight, String query, int limit) {
        Map<String, String> typed = new HashMap<>();
        for (String part : query.split("&", -1)) {
            String[] pair = part.split("=", 2);
            if (pair.length == 2) {
                typed.putIfAbsent(pair[0], decoded(pair[1]));
            }
        }
        Wanted wanted = wanted(given(typed), sites);
        return search.page(sight, wanted.filter, wanted.siteId(), 0, limit).stream()
                .map(Found::experiment)
                .toList();
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new Refusal("filter", "expected what follows the question mark in the address of a search");
        }
    }

    private static Map<String, String> given(Map<String, String> asked) {
        return asked.entrySet().stream()
                .filter(each -> !each.getValue().isBlank())
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    private static void add(Model model, Shown shown, @Nullable Site site, ExperimentOrder order) {
        model.addAttribute("found", shown.found);
        model.addAttribute("begins", shown.begins);
        model.addAttribute("before", shown.before);
        model.addAttribute("site", site);
        model.addAttribute("order", order);
    }

    /** Returns the page after a place, or the one before it; the first one without a place. */
    private Shown shown(Sight sight, Wanted wanted, Map<String, String> typed) {
        String before = typed.get("before");
        if (before != null) {
            Place end = Place.of(wanted.order.by(), before);
            List<Found> earlier =
                    search.page(sight, wanted.filter, wanted.siteId(), wanted.order.reversed(), end, SHOWN + 1);
            // A page that would be short is the first one, from its beginning.
            if (earlier.size() > SHOWN) {
                List<Found> items = earlier.subList(0, SHOWN).reversed();
                return new Shown(new Cut<>(items, key(items.getLast())), false, key(items.getFirst()));
            }
        }
        String after = before == null ? typed.get("after") : null;
        // Links of an earlier version lead to the first page like this.
        Place begin = after == null || after.equals("0") ? null : Place.of(wanted.order.by(), after);
        Cut<Found> found = Cut.of(
                SHOWN,
                most -> search.page(sight, wanted.filter, wanted.siteId(), wanted.order, begin, most),
                ExperimentsPage::key);
        boolean earlier = begin != null && !found.items().isEmpty();
        return new Shown(found, begin == null, earlier ? key(found.items().getFirst()) : null);
    }

    private static String key(Found found) {
        return found.place().toString();
    }

    private static Wanted wanted(Map<String, String> typed, List<Site> sites) {
        String state = typed.get("state");
        String sort = typed.get("sort");
        Filter filter = new Filter(
                typed.get("q"),
                typed.get("project"),
                typed.get("modality"),
                typed.get("scanner"),
                Days.typed("from", typed.get("from")),
                Days.typed("until", typed.get("until")),
                state == null ? null : State.of(state),
                typed.get("source"));
        return new Wanted(
                site(typed.get("site"), sites),
                filter,
                sort == null ? ExperimentOrder.REGISTERED : ExperimentOrder.of(sort));
    }

    /** Returns the site with this name; without a name the first one, null if there is none. */
    private static @Nullable Site site(@Nullable String name, List<Site> sites) {
        if (name == null) {
            return sites.isEmpty() ? null : sites.getFirst();
        }
        return sites.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new Refusal("site", "site \"%s\" does not exist", name));
    }
}
