package dozo.ui;

import dozo.ledger.Sight;
import dozo.restore.RestoreBatch;
import dozo.restore.RestoreBatches;
import dozo.restore.Restores.RestoreState;
import dozo.ui.PageProblems.NotThere;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Batches: restores of many experiments, how far they are, and how long they take. */
@Controller
@RequestMapping("/restores")
record RestoresPage(RestoreBatches batches) {

    private static final int SHOWN = 20;

    private static final int ITEMS_SHOWN = 100;

    /** The states by which the experiments of a batch can be chosen. */
    private static final List<RestoreState> STATES = List.of(
            RestoreState.RUNNING,
            RestoreState.WAITING,
            RestoreState.COMPLETE,
            RestoreState.FINDINGS,
            RestoreState.FAILED,
            RestoreState.STOPPED);

    @GetMapping
    String list(@RequestParam(defaultValue = "" + Long.MAX_VALUE) long before, Sight sight, Model model) {
        model.addAttribute(
                "batches", Cut.of(SHOWN, most -> batches.page(sight, before, most), batch -> "" + batch.id()));
        return "restores";
    }

    /**
     * Shows a batch and its experiments in their order.
     *
     * @param state only these; null: all
     */
    @GetMapping("/{id}")
    String batch(
            @PathVariable long id,
            @RequestParam(required = false) @Nullable RestoreState state,
            @RequestParam(defaultValue = "0") int after,
            Sight sight,
            Model model) {
        RestoreBatch batch = batches.find(sight, id).orElseThrow(() -> new NotThere("batch \"%d\" does not exist", id));
        model.addAttribute("batch", batch);
        model.addAttribute("states", STATES);
        model.addAttribute("chosen", state);
        model.addAttribute(
                "items",
                Cut.of(
                        ITEMS_SHOWN,
                        most -> batches.items(sight, id, state, after, most),
                        item -> "" + item.position()));
        return "batch";
    }
}
