package dozo.ledger;

import org.jspecify.annotations.Nullable;

/**
 * A deviation of the ledger from the state that Dozo left.
 *
 * @param seq the row, or the first of the missing rows; null: no row is concerned
 * @param message names the row or object
 */
public record Breach(Kind kind, @Nullable Long seq, String message) {

    public enum Kind {
        /** The row's hash does not match its columns and the previous row's hash: one of them was changed. */
        EDITED,
        /** Numbers without a row. */
        MISSING,
        /** The row was written at another place. */
        OUT_OF_ORDER,
        /** Rows at the end are missing: a site has the anchor of one of them. */
        CUT_OFF,
        /** The row differs from the one whose anchor a site has. */
        REWRITTEN,
        /** The anchor at a site differs from what was written there; a later anchor proves the ledger. */
        ANCHOR_ALTERED,
        /** An anchor that was written to a site is missing there. */
        ANCHOR_MISSING,
        /** A protection against changes of rows is not in place. */
        UNGUARDED,
        /** A kept root of the tree over the rows, or a checkpoint, is not that of the rows. */
        TREE_DIFFERS
    }
}
