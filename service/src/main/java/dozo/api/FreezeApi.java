package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.export.Columns;
import dozo.manifest.FreezeSigns;
import dozo.manifest.FreezeSigns.FrozenChange;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What vanished, changed or came in a frozen experiment. */
@RestController
public record FreezeApi(Experiments experiments, FreezeSigns signs) {

    private static final Columns<FrozenChange> COLUMNS = Columns.of(FrozenChange.class);

    /**
     * Lists the files and links that vanished, changed or came in a frozen experiment, as of the last look at its source: at most 5,000 of each
     * kind, by path. Empty: it is not frozen.
     */
    @Verb(
            value = "frozen PROJECT/EXPERIMENT:project/code [--csv:-]",
            arguments = {"PROJECT/EXPERIMENT=the experiment", "--csv=prints CSV with all columns"},
            columns = {
                "CHANGE={kind=GONE?}vanished|{kind=NEW?}new|changed",
                ">BEFORE={bytesBefore size}|",
                ">NOW={bytesAfter size}|",
                "PATH={path}"
            },
            none = "It is not frozen, or what changed was not kept.",
            lineByLine = true,
            example = "dozo frozen P001/S0001")
    @GetMapping("/api/v1/experiments/{project}/{code}/frozen")
    @Nullable
    Page<FrozenChange> list(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sheet sheet) {
        Experiment experiment =
                experiments.find(project, code).orElseThrow(Missing.thing("experiment", project + "/" + code));
        return sheet.page(
                "frozen-%s-%s".formatted(project, code),
                COLUMNS,
                after,
                limit,
                (last, most) -> signs.changes(experiment.id(), last, most),
                FrozenChange::number);
    }
}
