package dozo.ui;

import dozo.ledger.Sight;
import dozo.registry.Erasures;
import dozo.registry.Erasures.Erasure;
import dozo.registry.Erasures.ErasureAtSite;
import java.util.List;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Erasures: how far each is. */
@Controller
record ErasuresPage(Erasures erasures) {

    private static final int SHOWN = 50;

    /** An erasure with how far it is at each site. */
    record Shown(Erasure erasure, List<ErasureAtSite> sites) {}

    @GetMapping("/erasures")
    String list(@RequestParam(defaultValue = "" + Long.MAX_VALUE) long before, Sight sight, Model model) {
        model.addAttribute(
                "erasures",
                Cut.of(
                        SHOWN,
                        most -> erasures.page(sight, before, most).stream()
                                .map(erasure -> new Shown(erasure, erasures.sites(erasure.id())))
                                .toList(),
                        shown -> "" + shown.erasure().id()));
        return "erasures";
    }
}
