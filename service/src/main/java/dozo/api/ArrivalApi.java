package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.collect.Arrivals;
import dozo.collect.Arrivals.Acceptance;
import dozo.collect.Arrivals.Arrival;
import dozo.collect.Arrivals.Dismissal;
import dozo.collect.Arrivals.Filter;
import dozo.collect.Dismissals;
import dozo.export.Columns;
import dozo.ledger.Sight;
import dozo.registry.Acquisition;
import dozo.registry.Refusal;
import java.security.Principal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Arrivals: proposals, and items that became experiments. */
@RestController
@RequestMapping("/api/v1/arrivals")
public class ArrivalApi {

    private static final int MANY_MAX = 1_000;
    private static final int SHEET_PAGE = 1_000;

    private static final Columns<ShownArrival> COLUMNS = Columns.of(ShownArrival.class);

    private final Arrivals arrivals;
    private final Dismissals dismissals;

    /**
     * An item of an origin.
     *
     * @param item its permanent id in the origin
     * @param state offered, dismissed, arriving, complete or gone
     * @param theirs the id of its project in the origin
     * @param project the project it is in or is proposed for; omitted if not decided yet
     * @param code code of its experiment, as proposed; {@code title}, {@code modality}, {@code scanner} and {@code
     *     acquired} are also as proposed
     * @param waiting whether the next night looks at it
     * @param experiment the experiment it became, as project/code; omitted if none
     * @param dismissedBy the user who dismissed it; omitted if it is not dismissed
     * @param dismissedReason the reason in that user's words
     */
    public record ShownArrival(
            long id,
            String origin,
            String item,
            String state,
            @Nullable String theirs,
            @Nullable String project,
            String code,
            String title,
            @Nullable String modality,
            @Nullable String scanner,
            @Nullable LocalDate acquired,
            @Nullable Long filesTold,
            @Nullable Long bytesTold,
            long filesHere,
            boolean waiting,
            Instant firstSeenAt,
            Instant changedAt,
            @Nullable Instant completeAt,
            @Nullable String experiment,
            @Nullable Instant dismissedAt,
            @Nullable String dismissedBy,
            @Nullable String dismissedReason) {

        static ShownArrival of(Arrival arrival) {
            Dismissal dismissal = arrival.dismissal();
            return new ShownArrival(
                    arrival.id(),
                    arrival.origin(),
                    arrival.item(),
                    arrival.state().name().toLowerCase(Locale.ROOT),
                    arrival.theirs(),
                    arrival.project(),
                    arrival.code(),
                    arrival.title(),
                    arrival.acquisition().modality(),
                    arrival.acquisition().scanner(),
                    arrival.acquisition().day(),
                    arrival.filesTold(),
                    arrival.bytesTold(),
                    arrival.filesHere(),
                    arrival.waiting(),
                    arrival.firstSeenAt(),
                    arrival.changedAt(),
                    arrival.completeAt(),
                    arrival.experiment(),
                    dismissal == null ? null : dismissal.at(),
                    dismissal == null ? null : dismissal.by(),
                    dismissal == null ? null : dismissal.reason());
        }
    }

    /** The experiment to create from a proposal. Omitted fields are as proposed. */
    record NewAcceptance(
            @Nullable String project,
            @Nullable String code,
            @Nullable String title,
            @Nullable String modality,
            @Nullable String scanner,
            @Nullable String acquired) {

        Acceptance acceptance() {
            return new Acceptance(
                    project, code, title, new Acquisition(modality, scanner, ExperimentApi.day("acquired", acquired)));
        }
    }

    /** The numbers of proposals to accept as proposed. */
    record NewAcceptances(@Nullable List<Long> ids) {}

    /**
     * The result for one proposal.
     *
     * @param experiment the experiment it became, as project/code
     * @param refused why it did not become an experiment
     */
    public record AcceptedArrival(
            long id, @Nullable String experiment, @Nullable String refused) {}

    /**
     * The reason why a proposal is not wanted as an experiment.
     *
     * @param reason one line of 1 to 500 characters
     */
    record NewDismissal(@Nullable String reason) {}

    /** The results for all requested proposals, in the order of the request. */
    public record AcceptedArrivals(long accepted, long refused, List<AcceptedArrival> arrivals) {}

    ArrivalApi(Arrivals arrivals, Dismissals dismissals) {
        this.arrivals = arrivals;
        this.dismissals = dismissals;
    }

    /** Lists arrivals by number. CSV contains all of them. */
    @GetMapping
    @Nullable
    Page<ShownArrival> list(
            @RequestParam(required = false) @Nullable String origin,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable Boolean proposed,
            @RequestParam(required = false) @Nullable Boolean dismissed,
            @RequestParam(defaultValue = "0") long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        Filter wanted = new Filter(origin, project, proposed, dismissed);
        if (sheet.wanted()) {
            sheet.send(
                    "arrivals",
                    COLUMNS,
                    Sheet.paged(
                            SHEET_PAGE,
                            (last, most) -> arrivals.page(sight, wanted, last == null ? 0 : last.id(), most).stream()
                                    .map(ShownArrival::of)
                                    .toList()));
            return null;
        }
        return Page.of(limit, most -> arrivals.page(sight, wanted, after, most), Arrival::id)
                .map(ShownArrival::of);
    }

    /** Creates an experiment from a proposal. Its files are collected the next night. */
    @PostMapping("/{id}/accept")
    @ResponseStatus(HttpStatus.CREATED)
    ShownArrival accept(
            @PathVariable long id,
            @RequestBody(required = false) @Nullable NewAcceptance wanted,
            Principal actor,
            Sight sight) {
        Acceptance acceptance = wanted == null ? Acceptance.AS_PROPOSED : wanted.acceptance();
        find(sight, id);
        arrivals.accept(sight, id, acceptance, actor.getName());
        return ShownArrival.of(find(sight, id));
    }

    /** Dismisses a proposal. Nights skip it, whatever happens to it in its origin. */
    @PostMapping("/{id}/dismiss")
    ShownArrival dismiss(@PathVariable long id, @RequestBody NewDismissal wanted, Principal actor, Sight sight) {
        find(sight, id);
        String reason = wanted.reason() == null ? "" : wanted.reason();
        return ShownArrival.of(
                dismissals.dismiss(sight, id, reason, actor.getName()).orElseThrow(Missing.thing("arrival", id)));
    }

    /** Turns a dismissed item back into a proposal. The next night describes it. */
    @PostMapping("/{id}/takeback")
    ShownArrival takeBack(@PathVariable long id, Principal actor, Sight sight) {
        find(sight, id);
        return ShownArrival.of(
                dismissals.takeBack(sight, id, actor.getName()).orElseThrow(Missing.thing("arrival", id)));
    }

    private Arrival find(Sight sight, long id) {
        return arrivals.find(sight, id).orElseThrow(Missing.thing("arrival", id));
    }

    /** Accepts many proposals as proposed. Each is accepted on its own: a refused one does not prevent the others. */
    @PostMapping("/accept")
    AcceptedArrivals acceptAll(@RequestBody NewAcceptances wanted, Principal actor, Sight sight) {
        List<Long> ids = Optional.ofNullable(wanted.ids()).orElse(List.of());
        if (ids.isEmpty() || ids.size() > MANY_MAX) {
            throw new Refusal("ids", "expected the numbers of 1 to %d proposals", MANY_MAX);
        }
        List<AcceptedArrival> all =
                ids.stream().map(id -> acceptOne(id, actor, sight)).toList();
        long refused = all.stream().filter(each -> each.refused() != null).count();
        return new AcceptedArrivals(all.size() - refused, refused, all);
    }

    private AcceptedArrival acceptOne(long id, Principal actor, Sight sight) {
        try {
            return arrivals.accept(sight, id, Acceptance.AS_PROPOSED, actor.getName())
                    .map(experiment -> new AcceptedArrival(id, experiment.name(), null))
                    .orElseGet(() -> new AcceptedArrival(id, null, "there is no arrival %d".formatted(id)));
        } catch (Refusal refusal) {
            return new AcceptedArrival(id, null, refusal.getMessage());
        }
    }
}
