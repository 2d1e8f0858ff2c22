package dozo.ui;

import dozo.file.Message;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.worklist.Bookings;
import dozo.worklist.Bookings.Answer;
import dozo.worklist.GapKind;
import dozo.worklist.Gaps;
import dozo.worklist.Gaps.Filter;
import dozo.worklist.Gaps.Gap;
import dozo.worklist.JudgedBooking.Outcome;
import dozo.worklist.WorklistReadings;
import java.io.IOException;
import java.security.Principal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.multipart.MultipartFile;

/** What was planned compared with what arrived, and the exports of the booking system. */
@Controller
record GapsPage(Gaps gaps, Bookings bookings, Sites sites, Choices choices, WorklistReadings readings, Days days) {

    private static final int SHOWN = 50;
    private static final int LINES_SHOWN = 200;

    @GetMapping("/gaps")
    String list(
            @RequestParam(defaultValue = "") String from,
            @RequestParam(defaultValue = "") String until,
            @RequestParam(defaultValue = "") String asOf,
            @RequestParam(defaultValue = "") String project,
            @RequestParam(defaultValue = "") String kind,
            @RequestParam(defaultValue = "false") boolean all,
            @RequestParam(defaultValue = "") String site,
            @RequestParam(defaultValue = "") String after,
            Sight sight,
            Model model) {
        choices.addTo(model, sight);
        List<Site> known = sites.all();
        model.addAttribute("sites", known.stream().map(Site::name).toList());
        model.addAttribute("kinds", GapKind.values());
        // Users who see only some projects see this too: while the worklist is not read, visits are missing from their
        // lists as well.
        model.addAttribute("reading", readings.isThere() ? readings.last().orElse(null) : null);
        model.addAttribute("whole", sight.ofEverything());
        for (Map.Entry<String, String> given : Map.of(
                        "from", from, "until", until, "asOf", asOf, "project", project, "kind", kind, "site", site)
                .entrySet()) {
            model.addAttribute(given.getKey(), given.getValue());
        }
        model.addAttribute("all", all);
        model.addAttribute("asked", !(from + until + asOf + project + kind).isBlank());
        try {
            Filter wanted = new Filter(
                    Days.typed("from", from),
                    Days.typed("until", until),
                    at(asOf),
                    project.isBlank() ? null : project,
                    kind.isBlank() ? null : GapKind.of(kind),
                    all);
            Site chosen = Choices.site(known, site);
            model.addAttribute("at", chosen == null ? null : chosen.name());
            model.addAttribute("error", null);
            int id = chosen == null ? 0 : chosen.id();
            Cut<Gap> found = Cut.of(SHOWN, most -> gaps.page(sight, wanted, id, after, most), Gap::key);
            model.addAttribute("found", found);
            // An empty list is no comfort if nothing was booked.
            model.addAttribute("booked", !found.items().isEmpty() || gaps.areBooked(sight, wanted.at()));
        } catch (Refusal refused) {
            model.addAttribute("at", null);
            model.addAttribute("booked", true);
            model.addAttribute("error", refused.message());
            model.addAttribute("found", new Cut<Gap>(List.of(), null));
        }
        return "gaps";
    }

    @GetMapping("/gaps/bookings")
    String form(Model model) {
        return form(Form.EMPTY, null, model);
    }

    /** Imports the bookings of a file, all or none. */
    @PostMapping("/gaps/bookings")
    String keep(
            @RequestParam MultipartFile file,
            @RequestParam(defaultValue = "") String encoding,
            Principal actor,
            Sight sight,
            Model model)
            throws IOException {
        try {
            CsvPage.check(
                    file,
                    Message.of("expected a file with a header line and one line for each booking"),
                    "dozo bookings csv");
            Answer answer = bookings.keep(
                    sight, file.getInputStream(), encoding.isBlank() ? null : encoding, false, actor.getName());
            return form(Form.EMPTY, answer, model);
        } catch (Refusal refused) {
            return form(Form.refused(Map.of("encoding", encoding), refused), null, model);
        }
    }

    private static String form(Form form, @Nullable Answer answer, Model model) {
        model.addAttribute("form", form);
        model.addAttribute("bytesMax", CsvPage.BYTES_MAX);
        model.addAttribute("answer", answer);
        if (answer != null) {
            for (Outcome outcome : Outcome.values()) {
                model.addAttribute("count" + outcome, answer.count(outcome));
            }
            boolean refused = answer.count(Outcome.REFUSED) > 0;
            model.addAttribute(
                    "lines",
                    answer.lines().stream()
                            .filter(line -> !refused || line.outcome() == Outcome.REFUSED)
                            .limit(LINES_SHOWN)
                            .toList());
        }
        return "bookings";
    }

    /** Returns the end of a day, or the current time. */
    private Instant at(String text) {
        LocalDate day = days.past("asOf", text);
        return days.end(day == null ? days.today() : day);
    }
}
