package dozo.ledger;

import java.util.Optional;

/** What coverage is summed by. The database function {@code group_name} knows the same names. */
public enum Dimension implements Worded {
    PROJECT,
    EXPERIMENT,
    MODALITY,
    SCANNER,

    /** The month in which an experiment was acquired, as {@code 2026-10}. */
    MONTH;

    /** Returns the dimension with this word. */
    public static Optional<Dimension> of(String word) {
        return Worded.of(Dimension.class, word);
    }
}
