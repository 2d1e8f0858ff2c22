package dozo.api;

import dozo.api.http.Demanded;
import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.ledger.Sight;
import dozo.registry.Labels;
import dozo.registry.Labels.Label;
import dozo.web.Change;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Labels of experiments. */
@Verb.Group(name = "label", about = "Labels of experiments", section = "Daily work")
@RestController
@RequestMapping("/api/v1")
public record LabelApi(Labels labels) {

    /**
     * A label for an experiment.
     *
     * @param label 1 to 50 letters, digits, spaces, . _ : and -, such as pilot
     */
    record NewLabel(@Demanded @Nullable String label) {}

    /**
     * Lists labels by experiment.
     *
     * @param label only this one
     */
    @Verb(
            value = "label list [--label=LABEL] [--project=P]",
            columns = {"EXPERIMENT={project}/{experiment}", "LABEL={label}", "BY={labelledBy}", "SINCE={labelledAt}"},
            none = "No such label.",
            example = "dozo label list --label pilot")
    @GetMapping("/labels")
    Page<Label> list(
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String label,
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        return Page.of(limit, most -> labels.page(sight, project, label, after, most), Label::key);
    }

    /** Labels an experiment. If it has the label, nothing changes. */
    @Verb(
            value = "label add PROJECT/EXPERIMENT:project/code LABEL",
            arguments = "PROJECT/EXPERIMENT=the experiment",
            says = "{project}/{experiment} has the label {label}",
            example = "dozo label add P001/S0001 pilot")
    @Change(undo = "DELETE /experiments/{project}/{code}/labels/{label}")
    @PostMapping("/experiments/{project}/{code}/labels")
    @ResponseStatus(HttpStatus.CREATED)
    Label add(@PathVariable String project, @PathVariable String code, @RequestBody NewLabel asked, Principal actor) {
        return labels.add(project, code, asked.label() == null ? "" : asked.label(), actor.getName())
                .orElseThrow(Missing.thing("experiment", project + "/" + code));
    }

    /**
     * Takes a label from an experiment.
     *
     * @param label the label
     */
    @Verb(
            value = "label remove PROJECT/EXPERIMENT:project/code LABEL",
            arguments = "PROJECT/EXPERIMENT=the experiment",
            says = "{project}/{code} no longer has the label {label}",
            example = "dozo label remove P001/S0001 pilot")
    @Change(undo = "POST /experiments/{project}/{code}/labels?label={label}")
    @DeleteMapping("/experiments/{project}/{code}/labels/{label}")
    @ResponseStatus(HttpStatus.NO_CONTENT)
    void remove(@PathVariable String project, @PathVariable String code, @PathVariable String label, Principal actor) {
        if (labels.remove(project, code, label, actor.getName()).isEmpty()) {
            throw Missing.thing("label of " + project + "/" + code, label).get();
        }
    }
}
