package dozo.ui;

import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Filter;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.ledger.Verification;
import dozo.registry.Refusal;
import dozo.ui.LedgerCheck.Ended;
import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** The ledger for auditors: what happened, newest first, and whether the ledger is intact. */
@Controller
record LedgerPage(Ledger ledger, LedgerCheck check, Days days) {

    private static final int SHOWN = 50;

    /** How much later than it was asked for a verification may begin. */
    private static final Duration OWN = Duration.ofMinutes(1);

    /** A row, with its details by name. */
    record Row(LedgerEntry entry, Map<String, Object> detail) {

        static Row of(LedgerEntry entry) {
            return new Row(
                    entry, new TreeMap<>(JsonParserFactory.getJsonParser().parseMap(entry.detail())));
        }
    }

    @GetMapping("/audit/ledger")
    String rows(
            @RequestParam Map<String, String> typed,
            @RequestParam(defaultValue = "" + Long.MAX_VALUE) long before,
            Model model) {
        model.addAttribute("actions", ledger.actions());
        model.addAttribute("runningSince", check.runningSince());
        Ended last = check.last();
        Verification kept = ledger.lastVerification().orElse(null);
        // The service's own verification may be the later one.
        boolean later =
                last != null && kept != null && kept.beganAt().isAfter(last.at().plus(OWN));
        model.addAttribute("last", later ? null : last);
        model.addAttribute("kept", kept);
        Form form = new Form(typed, Map.of());
        try {
            Filter wanted = wanted(form);
            Cut<LedgerEntry> found =
                    Cut.of(SHOWN, most -> ledger.newest(wanted, before, most), entry -> String.valueOf(entry.seq()));
            model.addAttribute(
                    "found", new Cut<>(found.items().stream().map(Row::of).toList(), found.next()));
            model.addAttribute("form", form);
            model.addAttribute("asked", !wanted.equals(Filter.ALL));
        } catch (Refusal refused) {
            model.addAttribute("found", new Cut<Row>(List.of(), null));
            model.addAttribute("form", Form.refused(typed, refused));
            model.addAttribute("asked", true);
        }
        return "ledger";
    }

    /** Verifies the ledger. A verification that takes long goes on after the page is shown. */
    @PostMapping("/audit/ledger/verification")
    String verify() throws InterruptedException {
        check.begin();
        return "redirect:/audit/ledger";
    }

    private Filter wanted(Form form) {
        LocalDate from = Days.typed("from", form.value("from"));
        LocalDate until = Days.typed("until", form.value("until"));
        if (from != null && until != null && from.isAfter(until)) {
            throw new Refusal("from", "expected a date on or before the last day");
        }
        return new Filter(
                form.given("subject"),
                form.given("action"),
                form.given("actor"),
                from == null ? null : days.begin(from),
                until == null ? null : days.begin(until.plusDays(1)));
    }
}
