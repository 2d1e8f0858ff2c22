package dozo.ui;

import dozo.alert.Alerts;
import dozo.alert.Alerts.Alert;
import dozo.alert.Outbox;
import dozo.alert.Outbox.Waiting;
import dozo.alert.Recipients;
import dozo.ledger.Sight;
import dozo.run.Headlines;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Conditions that need a person or needed one, and who is told about them. */
@Controller
record AlertsPage(Alerts alerts, Recipients recipients, Outbox outbox, Headlines headlines) {

    private static final int SHOWN = 50;

    /** @param before only earlier alerts than this */
    @GetMapping("/alerts")
    String list(@RequestParam(defaultValue = "" + Long.MAX_VALUE) long before, Sight sight, Model model) {
        Map<String, Waiting> waiting = new HashMap<>();
        outbox.waiting().forEach(each -> waiting.put(each.recipient(), each));
        List<Alert> open = alerts.page(sight, true, Long.MAX_VALUE, SHOWN);
        model.addAttribute("open", open);
        model.addAttribute(
                "sentences",
                open.stream()
                        .map(each -> headlines.sentence(each.kind(), each.project(), each.count(), each.subject()))
                        .toList());
        model.addAttribute(
                "alerts", Cut.of(SHOWN, most -> alerts.page(sight, false, before, most), alert -> "" + alert.id()));
        model.addAttribute("recipients", recipients.all());
        model.addAttribute("waiting", waiting);
        return "alerts";
    }
}
