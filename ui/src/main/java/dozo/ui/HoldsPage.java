package dozo.ui;

import dozo.ledger.Sight;
import dozo.registry.Holds;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Retention holds: which stand, and which have ended. */
@Controller
record HoldsPage(Holds holds) {

    private static final int SHOWN = 50;

    @GetMapping("/holds")
    String list(@RequestParam(defaultValue = "" + Long.MAX_VALUE) long before, Sight sight, Model model) {
        model.addAttribute(
                "holds", Cut.of(SHOWN, most -> holds.page(sight, true, before, most), hold -> "" + hold.id()));
        return "holds";
    }
}
