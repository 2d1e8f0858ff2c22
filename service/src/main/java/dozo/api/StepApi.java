package dozo.api;

import dozo.api.http.Demanded;
import dozo.api.http.Missing;
import dozo.api.http.Verb;
import dozo.ledger.Worded;
import dozo.run.FirstSteps;
import dozo.run.FirstSteps.FirstStep;
import dozo.run.FirstSteps.Step;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The first steps of an installation. */
@Verb.Group(name = "step", about = "First steps that are not done yet", section = "Set-up")
@RestController
@RequestMapping("/api/v1/steps")
public record StepApi(FirstSteps steps) {

    /**
     * The dismissal of a step.
     *
     * @param reason why the step is not needed, in one line
     */
    record StepDismissal(@Demanded @Nullable String reason) {}

    /** Lists the first steps of the installation, and whether each is done. */
    @Verb(
            value = "step list",
            columns = {
                "STEP={step word}",
                "STATE={done?}done|{dismissedBy?}dismissed by {dismissedBy}: {reason}|open",
                "MEANING={open?}{sentence}|",
                "WHAT TO DO={open?}{cure}|"
            },
            exit = "{open?}1|0",
            footer = "Exit code 0: each step is done or dismissed. 1: a step is open.",
            example = "dozo step list")
    @GetMapping
    List<FirstStep> list() {
        return steps.all();
    }

    /**
     * Dismisses a step that this installation does not need. The overview and {@code dozo doctor} no longer warn of it.
     *
     * @param step its name in the list
     */
    @Verb(
            value = "step dismiss STEP --reason=TEXT",
            says = "the step {step} is dismissed",
            example = "dozo step dismiss recipient --reason 'Our monitoring reads the metrics.'")
    @PostMapping("/{step}/dismissal")
    FirstStep dismiss(@PathVariable String step, @RequestBody StepDismissal asked, Principal actor) {
        return steps.dismiss(named(step), asked.reason() == null ? "" : asked.reason(), actor.getName());
    }

    /**
     * Undoes the dismissal of a step. 409: it is not dismissed.
     *
     * @param step its name in the list
     */
    @Verb(
            value = "step reopen STEP",
            says = "the step {step} is no longer dismissed",
            example = "dozo step reopen recipient")
    @DeleteMapping("/{step}/dismissal")
    FirstStep reopen(@PathVariable String step, Principal actor) {
        return steps.reopen(named(step), actor.getName());
    }

    private static Step named(String word) {
        return Worded.of(Step.class, word).orElseThrow(Missing.thing("step", word));
    }
}
