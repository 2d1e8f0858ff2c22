package dozo.ledger;

import java.time.Instant;

/**
 * A verification of the whole ledger.
 *
 * @param beganAt when it began
 * @param verdict {@code INTACT}; {@code INCOMPLETE}: nothing is broken, but not every site could be compared; {@code BROKEN}
 * @param rowsChecked the number of rows
 * @param breaches the number of rows, guards and anchors that are not as they were
 */
public record Verification(Instant beganAt, String verdict, long rowsChecked, long breaches) {

    /** The verdict if something is not as Dozo left it. */
    public static final String BROKEN = "BROKEN";
}
