package dozo.ui;

import dozo.ledger.Sight;
import dozo.people.Users.User;
import dozo.search.Hit;
import dozo.search.Hit.Kind;
import dozo.search.Search;
import dozo.search.SearchResult;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Search in everything that the user may see, and the suggestions of the field in the head of every page. */
@Controller
record SearchPage(Search search) {

    private static final int SUGGESTED = 5;
    private static final int SHOWN = 20;
    private static final int SHOWN_OF_ONE = 100;

    private static final SearchResult NOTHING = new SearchResult(List.of(), null, List.of(), false);

    @GetMapping("/search")
    String all(
            @RequestParam(defaultValue = "") String q,
            @RequestParam(defaultValue = "") String kind,
            @RequestParam(defaultValue = "") String after,
            User user,
            Sight sight,
            Model model) {
        Kind one = kind.isEmpty() ? null : Kind.of(kind);
        add(model, q, found(q, user, sight, one, after, one == null ? SHOWN : SHOWN_OF_ONE));
        model.addAttribute("kind", one);
        return "search";
    }

    @GetMapping(value = "/search", headers = "HX-Request")
    String suggestions(@RequestParam(defaultValue = "") String q, User user, Sight sight, Model model) {
        add(model, q, found(q, user, sight, null, "", SUGGESTED));
        return "searchbox :: suggestions";
    }

    private SearchResult found(String q, User user, Sight sight, @Nullable Kind kind, String after, int limit) {
        return q.isBlank() ? NOTHING : search.find(q, user.roles(), sight, kind, after, limit);
    }

    private static void add(Model model, String q, SearchResult result) {
        model.addAttribute("q", q.strip());
        model.addAttribute("result", result);
        model.addAttribute(
                "found",
                result.items().stream().collect(Collectors.groupingBy(Hit::kind, TreeMap::new, Collectors.toList())));
    }
}
