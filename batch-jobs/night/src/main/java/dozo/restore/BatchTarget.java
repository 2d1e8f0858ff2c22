package dozo.restore;

import dozo.registry.Experiments.Experiment;
import java.nio.file.Path;

/** Where the restores of a batch go. */
public sealed interface BatchTarget permits BatchTarget.Below, BatchTarget.Sources, Target.Archive {

    /**
     * A folder of this machine, in which each experiment gets a folder {@code PROJECT.EXPERIMENT}.
     *
     * @param folder as it was said
     */
    record Below(Path folder) implements BatchTarget {}

    /** The source of each experiment. */
    record Sources() implements BatchTarget {}

    /** Returns the name of the folder of an experiment. No two have the same: codes have no dot. */
    static String name(Experiment experiment) {
        return experiment.project() + "." + experiment.code();
    }
}
