package dozo.api;

import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Findings.Wanted;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.run.Acknowledgements;
import java.security.Principal;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Findings of all runs, and what people say of them. */
@RestController
@RequestMapping("/api/v1/findings")
class FindingApi {

    private final Findings findings;
    private final Acknowledgements acknowledgements;

    /** Why nothing is to be done. */
    record NewAcknowledgement(@Nullable String reason) {}

    FindingApi(Findings findings, Acknowledgements acknowledgements) {
        this.findings = findings;
        this.acknowledgements = acknowledgements;
    }

    /** Latest first. */
    @GetMapping
    Page<ShownFinding> list(
            @RequestParam(required = false) @Nullable Boolean open,
            @RequestParam(required = false) @Nullable String reason,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable Long run,
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        Wanted wanted = new Wanted(open, reason == null ? null : problem(reason), project, run, null);
        long before = after == null ? Long.MAX_VALUE : after;
        return Page.of(limit, most -> findings.page(sight, wanted, before, most), KeptFinding::id)
                .map(ShownFinding::of);
    }

    @PostMapping("/{id}/acknowledge")
    ShownFinding acknowledge(
            @PathVariable long id, @RequestBody NewAcknowledgement said, Principal actor, Sight sight) {
        KeptFinding finding = find(sight, id);
        try {
            acknowledgements.add(finding, said.reason() == null ? "" : said.reason(), actor.getName());
        } catch (Refusal refusal) {
            throw Conflict.unless(!refusal.field().equals("finding"), refusal);
        }
        return ShownFinding.of(find(sight, id));
    }

    private KeptFinding find(Sight sight, long id) {
        return findings.find(sight, id).orElseThrow(Missing.thing("finding", id));
    }

    private static Problem problem(String name) {
        return Arrays.stream(Problem.values())
                .filter(problem -> problem.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new Refusal(
                        "reason",
                        "\"%s\" is no reason of a finding: %s are accepted"
                                .formatted(
                                        name,
                                        Arrays.stream(Problem.values())
                                                .map(Problem::name)
                                                .collect(Collectors.joining(", ")))));
    }
}
