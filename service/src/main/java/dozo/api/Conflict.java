package dozo.api;

import dozo.registry.Refusal;

/** A refusal because of what is there already. */
final class Conflict extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Refusal refusal;

    Conflict(Refusal refusal) {
        super(refusal.getMessage(), refusal);
        this.refusal = refusal;
    }

    Refusal refusal() {
        return refusal;
    }

    /** The refusal as a conflict, if it is one. */
    static RuntimeException unless(boolean free, Refusal refusal) {
        return free ? refusal : new Conflict(refusal);
    }
}
