package dozo.ui;

import dozo.file.FilePath;
import dozo.ledger.Audit;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.Group;
import dozo.ledger.Dimension;
import dozo.ledger.PastCoverage;
import dozo.ledger.Sight;
import dozo.manifest.ChangeSummary;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.verify.Proofs;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.thymeleaf.context.LazyContextVariable;

/**
 * Answers for auditors: what was safe at the end of a day, how long data waited until it was safe, and the proof of one
 * file.
 */
@Controller
record AuditPage(
        Coverage coverage,
        PastCoverage past,
        Audit audit,
        ChangeSummary summaries,
        Sites sites,
        Experiments experiments,
        Proofs proofs,
        Days days) {

    private static final int GROUPS_SHOWN = 100;

    private static final int EXPERIMENTS_SHOWN = 20;

    /** Default period of the waits, in days. */
    private static final int DAYS_USUAL = 90;

    /** Experiments have their own page. */
    private static final List<Dimension> DIMENSIONS =
            List.of(Dimension.PROJECT, Dimension.SCANNER, Dimension.MODALITY, Dimension.MONTH);

    /** The requested days; {@code asOf} is null for now. */
    private record Asked(@Nullable LocalDate asOf, LocalDate from, LocalDate until) {}

    @GetMapping("/audit")
    String audit(
            @RequestParam Map<String, String> typed,
            @RequestParam(defaultValue = "") String after,
            Sight sight,
            Model model) {
        try {
            return shown(typed, after, new Form(typed, Map.of()), sight, model);
        } catch (Refusal refused) {
            Map<String, String> kept = new HashMap<>(typed);
            kept.keySet().removeAll(List.of("asOf", "from", "until", "by"));
            return shown(kept, "", Form.refused(typed, refused), sight, model);
        }
    }

    /** Searches for the proof of a file, and redirects to its page. */
    @GetMapping("/audit/proof")
    String proof(@RequestParam Map<String, String> typed, Sight sight, Model model) {
        try {
            Experiment experiment =
                    experiment(typed.getOrDefault("experiment", "").strip(), sight);
            FilePath path = path(typed.getOrDefault("path", ""));
            if (proofs.of(experiment.id(), id(Choices.site(sites.all(), typed.get("site"))), path, 1)
                    .isEmpty()) {
                throw new Refusal("path", "no manifest of %s has contained this path", experiment.name());
            }
            return "redirect:/experiments/%s/%s/proof?path=%s"
                    .formatted(experiment.project(), experiment.code(), Bytes.of(path));
        } catch (Refusal refused) {
            return shown(Map.of(), "", Form.refused(typed, refused), sight, model);
        }
    }

    private String shown(Map<String, String> typed, String after, Form form, Sight sight, Model model) {
        Dimension by = dimension(typed.get("by"));
        Asked asked = asked(typed);
        Site site = Choices.site(sites.all(), typed.get("site"));
        int siteId = id(site);
        Instant at = asked.asOf == null ? null : days.end(asked.asOf);
        model.addAttribute("form", form);
        model.addAttribute("by", by);
        model.addAttribute("dimensions", DIMENSIONS);
        model.addAttribute("sites", sites.all());
        model.addAttribute("site", site);
        model.addAttribute("asOf", asked.asOf);
        model.addAttribute("at", at);
        model.addAttribute("from", asked.from);
        model.addAttribute("until", asked.until);
        model.addAttribute("today", days.today());
        model.addAttribute("recordedSince", coverage.recordedSince(siteId).orElse(null));
        model.addAttribute("recorded", coverage.isKnown(siteId, at));
        model.addAttribute("all", coverage.all(sight, siteId, at));
        // Loaded only by a template that shows it.
        model.addAttribute("history", new LazyContextVariable<Optional<Charts.Coverages>>() {
            @Override
            protected Optional<Charts.Coverages> loadValue() {
                return Charts.tried(() -> history(sight, siteId));
            }
        });
        Cut<Group> groups = Cut.of(
                GROUPS_SHOWN,
                most -> coverage.groups(sight, by, siteId, at, after, most),
                group -> String.valueOf(group.name()));
        model.addAttribute("groups", groups);
        model.addAttribute(
                "changed", summaries.between(sight, days.begin(asked.from), days.end(asked.until), EXPERIMENTS_SHOWN));
        model.addAttribute("waits", audit.waits(sight, by, siteId, days.begin(asked.from), days.end(asked.until)));
        return "audit";
    }

    private static int id(@Nullable Site site) {
        return site == null ? Sites.NO_SITE : site.id();
    }

    private Charts.Coverages history(Sight sight, int site) {
        Instant now = days.clock().instant();
        List<Instant> moments =
                Charts.Coverages.moments(coverage.recordedSince(site).orElse(now), now, days.zone());
        return Charts.Coverages.of(moments, past.history(sight, site, moments));
    }

    private Asked asked(Map<String, String> typed) {
        LocalDate asOf = days.past("asOf", typed.get("asOf"));
        LocalDate until = days.past("until", typed.get("until"));
        LocalDate from = days.past("from", typed.get("from"));
        LocalDate last = until == null ? days.today() : until;
        LocalDate first = from == null ? last.minusDays(DAYS_USUAL) : from;
        if (first.isAfter(last)) {
            throw new Refusal("from", "expected a date on or before the last day");
        }
        return new Asked(asOf, first, last);
    }

    private static Dimension dimension(@Nullable String word) {
        return word == null || word.isBlank()
                ? Dimension.PROJECT
                : Dimension.of(word)
                        .filter(DIMENSIONS::contains)
                        .orElseThrow(
                                () -> new Refusal("by", "\"%s\": expected project, scanner, modality or month", word));
    }

    private Experiment experiment(String name, Sight sight) {
        if (name.indexOf('/') < 1) {
            throw new Refusal("experiment", "expected PROJECT/CODE, such as P001/S0001");
        }
        return experiments
                .find(name)
                .filter(found -> sight.sees(found.project()))
                .orElseThrow(() -> new Refusal("experiment", "experiment \"%s\" does not exist", name));
    }

    private static FilePath path(String text) {
        try {
            FilePath path = FilePath.of(text.getBytes(StandardCharsets.UTF_8));
            if (!path.isRoot()) {
                return path;
            }
        } catch (IllegalArgumentException e) {
            throw new Refusal("path", "expected a path below the source: %s", String.valueOf(e.getMessage()));
        }
        throw new Refusal("path", "expected a path below the source, such as dicom/IM0001.dcm");
    }
}
