package dozo.remote;

/** What is known about a link before anything is sent over it. */
public sealed interface TuningStart {

    /** Nothing is known: a usual link is assumed. */
    record Unknown() implements TuningStart {}

    /** What {@link TuningGrid} has found to be best. */
    record Chosen(TuningGrid.Cell best) implements TuningStart {}

    /** The rate that it carried before. */
    record Carried(double bytesPerSecond) implements TuningStart {
        public Carried {
            if (!(bytesPerSecond > 0)) {
                throw new IllegalArgumentException("a rate of " + bytesPerSecond + " bytes a second");
            }
        }
    }
}
