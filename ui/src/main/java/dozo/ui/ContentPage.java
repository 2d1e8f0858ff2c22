package dozo.ui;

import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.verify.AllSeries;
import dozo.verify.Contents;
import dozo.verify.Contents.NotWhole;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;

/** Which files of an experiment are whole, and its series. The experiment's page loads it afterwards: it counts all files. */
@Controller
@RequestMapping("/experiments/{project}/{code}/content")
record ContentPage(Experiments experiments, Contents contents, AllSeries series) {

    private static final int FILES_SHOWN = 50;

    /** @param after the number of the last entry on the previous page */
    @GetMapping
    String content(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam(defaultValue = "0") int after,
            Model model) {
        Experiment experiment = ExperimentPage.found(experiments, project, code);
        Cut<NotWhole> files = Cut.of(
                FILES_SHOWN,
                most -> contents.notWhole(experiment.id(), after, most),
                file -> String.valueOf(file.entryNumber()));
        model.addAttribute("experiment", experiment);
        model.addAttribute("counts", contents.counts(experiment.id()));
        model.addAttribute("series", series.of(experiment.id()));
        model.addAttribute("notWhole", files.items());
        model.addAttribute("next", files.next());
        return "content";
    }
}
