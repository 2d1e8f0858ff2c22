package dozo.ledger;

import org.jspecify.annotations.Nullable;

/**
 * Something about the ledger that is not as Dozo leaves it.
 *
 * @param seq the row, or the first of those that are gone; null: it concerns no row
 * @param message names the thing
 */
public record Breach(Kind kind, @Nullable Long seq, String message) {

    /** What kind of thing. */
    public enum Kind {
        /** A row whose hash is not that of its columns and of the row before: one of them was changed. */
        EDITED,
        /** Numbers without a row. */
        MISSING,
        /** A row that was written at another place. */
        OUT_OF_ORDER,
        /** Rows at the end are gone: a site has the anchor of one. */
        CUT_OFF,
        /** The row is another one than that of which a site has the anchor. */
        REWRITTEN,
        /** The anchor at a site is not what was written there; the ledger is proven by a later one. */
        ANCHOR_ALTERED,
        /** An anchor that was written to a site is not there. */
        ANCHOR_MISSING,
        /** What keeps rows from being changed is not in place. */
        UNGUARDED
    }
}
