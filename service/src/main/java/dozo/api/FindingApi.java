package dozo.api;

import dozo.api.http.Demanded;
import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.export.Columns;
import dozo.file.Problem;
import dozo.ledger.FindingFilter;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Acknowledgement;
import dozo.ledger.Findings.FindingGroup;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.run.Acknowledgements;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Findings of all runs, and their acknowledgements. */
@RestController
@RequestMapping("/api/v1/findings")
public record FindingApi(Findings findings, Acknowledgements acknowledgements) {

    private static final Columns<KeptFinding> COLUMNS = Columns.of(KeptFinding.class)
            .without("path", "acknowledgement")
            .and("path", KeptFinding::shownPath)
            .and(
                    "pathBytes",
                    finding -> finding.path() == null ? null : finding.path().bytes())
            .and("open", KeptFinding::open)
            .and(Columns.of("acknowledgedBy", Acknowledgement::by)
                    .and("acknowledgedAt", Acknowledgement::at)
                    .and("acknowledgedReason", Acknowledgement::reason)
                    .in(KeptFinding::acknowledgement));

    /**
     * Why nothing needs to be done.
     *
     * @param reason one line of 1 to 500 characters; name no subject
     */
    record NewAcknowledgement(@Demanded @Nullable String reason) {}

    /**
     * The result of acknowledging many findings.
     *
     * @param acknowledged how many are acknowledged now and were not before
     */
    public record Acknowledged(int acknowledged) {}

    /** Lists the findings of all runs, those first that were detected last. */
    @GetMapping
    @Nullable
    Page<KeptFinding> list(
            @RequestParam(required = false) @Nullable Boolean open,
            @RequestParam(required = false) @Nullable Problem reason,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String experiment,
            @RequestParam(required = false) @Nullable Long run,
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        FindingFilter wanted = new FindingFilter(open, reason, project, experiment, run, null);
        long before = after == null ? Long.MAX_VALUE : after;
        return sheet.page(
                "findings",
                COLUMNS,
                before,
                limit,
                (last, most) -> findings.page(sight, wanted, last, most),
                KeptFinding::id);
    }

    /** Lists open findings by cause: those with the same reason in the same experiment are one item. The gravest first. */
    @GetMapping("/groups")
    Page<FindingGroup> groups(
            @RequestParam(required = false) @Nullable Problem reason,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String experiment,
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        FindingFilter wanted = new FindingFilter(true, reason, project, experiment, null, null);
        return Page.of(
                limit,
                most -> findings.groups(sight, wanted, after, most),
                group -> group.latest().id());
    }

    /**
     * Marks all open findings with a reason as known, as for one finding: those of an experiment, of a project, or all that
     * the user may see. 409: none of them is open.
     *
     * @param upTo the highest id that the user has seen; later findings stay open
     */
    @PostMapping("/acknowledge")
    Acknowledged acknowledgeAll(
            @RequestParam Problem reason,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String experiment,
            @RequestParam long upTo,
            @RequestBody NewAcknowledgement said,
            Principal actor,
            Sight sight) {
        FindingFilter wanted = new FindingFilter(true, reason, project, experiment, null, null);
        return new Acknowledged(acknowledgements.addAll(sight, wanted, upTo, text(said), actor.getName()));
    }

    /**
     * Acknowledges a finding, with the reason why nothing needs to be done. It makes no file safe, and stays acknowledged while
     * runs find the same with the same message. 409: it is acknowledged already; the first reason stays.
     */
    @Verb(
            value = "findings acknowledge ID REASON",
            says = "finding {id} acknowledged",
            example = "dozo findings acknowledge 17 'the scanner wrote a socket; nobody needs it'")
    @PostMapping("/{id}/acknowledge")
    KeptFinding acknowledge(@PathVariable long id, @RequestBody NewAcknowledgement said, Principal actor, Sight sight) {
        KeptFinding finding = find(sight, id);
        acknowledgements.add(finding, text(said), actor.getName());
        return find(sight, id);
    }

    /**
     * Takes an acknowledgement back. The finding is open again, unless it is over. The ledger records both. 409: it is not acknowledged.
     */
    @Verb(value = "findings reopen ID", says = "finding {id} is open again", example = "dozo findings reopen 17")
    @PostMapping("/{id}/reopen")
    KeptFinding reopen(@PathVariable long id, Principal actor, Sight sight) {
        acknowledgements.takeBack(find(sight, id), actor.getName());
        return find(sight, id);
    }

    private static String text(NewAcknowledgement said) {
        return said.reason() == null ? "" : said.reason();
    }

    private KeptFinding find(Sight sight, long id) {
        return findings.find(sight, id).orElseThrow(Missing.thing("finding", id));
    }
}
