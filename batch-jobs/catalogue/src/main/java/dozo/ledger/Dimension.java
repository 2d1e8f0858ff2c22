package dozo.ledger;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What coverage is summed by. The database function {@code group_name} knows the same names. */
public enum Dimension {
    PROJECT,
    EXPERIMENT,
    MODALITY,
    SCANNER,

    /** The month in which an experiment was acquired, as {@code 2026-10}. */
    MONTH;

    /** Returns its word on the command line and in REST. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the dimension with this word. */
    public static Optional<Dimension> of(String word) {
        return Arrays.stream(values()).filter(each -> each.word().equals(word)).findFirst();
    }
}
