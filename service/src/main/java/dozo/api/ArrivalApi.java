package dozo.api;

import dozo.api.http.Demanded;
import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
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
import dozo.web.Change;
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
public record ArrivalApi(Arrivals arrivals, Dismissals dismissals) {

    private static final int MANY_MAX = 1_000;

    private static final Columns<ShownArrival> COLUMNS = Columns.of(ShownArrival.class);

    /**
     * An item that an origin listed.
     *
     * @param item its permanent id in the origin
     * @param state offered, dismissed, arriving, complete or gone
     * @param theirs the id of the origin's own project
     * @param project the project of the item or of the proposal; missing: unknown yet
     * @param code the proposed code; {@code title}, {@code modality}, {@code scanner} and {@code acquired} are proposed too
     * @param waiting whether the next night checks it
     * @param experiment its experiment, as project/code; missing: it is not an experiment
     * @param dismissedBy the user who dismissed it; missing: it is not dismissed
     * @param dismissedReason why that user dismissed it
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

    /** The experiment to register; missing fields are as proposed. */
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

    /**
     * The proposals to accept.
     *
     * @param ids their numbers, 1 to 1,000
     */
    record NewAcceptances(@Demanded @Nullable List<Long> ids) {}

    /**
     * The result for one proposal.
     *
     * @param experiment its experiment, as project/code
     * @param refused why it was not accepted
     */
    public record AcceptedArrival(
            long id, @Nullable String experiment, @Nullable String refused) {}

    /**
     * Why a proposal is dismissed.
     *
     * @param reason one line of 1 to 500 characters
     */
    record NewDismissal(@Demanded @Nullable String reason) {}

    /** The results, in the order of the request. */
    public record AcceptedArrivals(long accepted, long refused, List<AcceptedArrival> arrivals) {}

    /** Lists the items found at origins, by number. */
    @Verb(
            value = "origin arrivals proposed=true [--origin=NAME] [--project=P]",
            about = "Lists the proposals: what origins list that is not an experiment yet.",
            columns = {
                "ID={id}",
                "ORIGIN={origin}",
                "STATE={state}",
                "PROJECT={project}",
                "ACQUIRED={acquired}",
                "MODALITY={modality}",
                "FILES={filesTold}",
                "TITLE={title}",
                "DISMISSED={dismissedBy}: {dismissedReason}"
            },
            none = "No proposals.",
            example = "dozo origin arrivals --project P001")
    @Verb(
            value = "origin arrivals --all:- [--origin=NAME] [--project=P]",
            arguments = "--all=includes items that became experiments or were dismissed",
            none = "No such arrival.",
            example = "dozo origin arrivals --all")
    @Verb(
            value = "origin arrivals --dismissed [--origin=NAME] [--project=P]",
            arguments = "--dismissed=lists dismissed items instead, with the reasons",
            none = "No such arrival.",
            example = "dozo origin arrivals --dismissed")
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
        return sheet.page(
                "arrivals",
                COLUMNS,
                after,
                limit,
                (last, most) -> arrivals.page(sight, wanted, last, most).stream()
                        .map(ShownArrival::of)
                        .toList(),
                ShownArrival::id);
    }

    /**
     * Registers a proposal as an experiment. Its files are collected the next night. 409: it is an experiment already, it is
     * dismissed, or the code is taken.
     */
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

    /** Marks a proposal as not wanted as an experiment. Nights skip it. 409: it is an experiment or dismissed already. */
    @Verb(
            value = "origin dismiss ID…:id --reason=TEXT",
            arguments = {"ID=their numbers", "--reason=the reason, in one line without names of subjects"},
            about =
                    "Dismisses proposals: they are not wanted as experiments. Nights skip them; they are still counted.",
            footer = "Exit code 3: one was refused; the command ends there.",
            says = "{id}: dismissed",
            example = "dozo origin dismiss --reason 'a phantom' 14")
    @Change(undo = "POST /arrivals/{id}/takeback")
    @PostMapping("/{id}/dismiss")
    ShownArrival dismiss(@PathVariable long id, @RequestBody NewDismissal wanted, Principal actor, Sight sight) {
        find(sight, id);
        String reason = wanted.reason() == null ? "" : wanted.reason();
        return ShownArrival.of(
                dismissals.dismiss(sight, id, reason, actor.getName()).orElseThrow(Missing.thing("arrival", id)));
    }

    /** Turns a dismissed item back into a proposal. 409: it is not dismissed. */
    @Verb(
            value = "origin takeback ID…:id",
            arguments = "ID=their numbers",
            about = "Turns dismissed items back into proposals. The next night describes them.",
            footer = "Exit code 3: one was refused; the command ends there.",
            says = "{id}: a proposal again",
            example = "dozo origin takeback 14")
    @PostMapping("/{id}/takeback")
    ShownArrival takeBack(@PathVariable long id, Principal actor, Sight sight) {
        find(sight, id);
        return ShownArrival.of(
                dismissals.takeBack(sight, id, actor.getName()).orElseThrow(Missing.thing("arrival", id)));
    }

    private Arrival find(Sight sight, long id) {
        return arrivals.find(sight, id).orElseThrow(Missing.thing("arrival", id));
    }

    /** Accepts 1 to 1,000 proposals as proposed, each on its own. */
    @Verb(
            value = "origin accept ID…:ids",
            about = "Registers proposals as experiments, as proposed. Their files are collected the next night.",
            footer = "Exit code 3: one of them was refused.",
            items = "arrivals",
            each = "{id}: {experiment}|{id}: refused: [{refused}|–]",
            result = true,
            exit = "{refused?}3|0",
            example = "dozo origin accept 12 13")
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
