package dozo.content;

import dozo.content.Verdict.State;

/** Ends a check before the end of the file: what is wrong is known, or that nobody can know. */
final class NotWhole extends Exception {

    private static final long serialVersionUID = 1;

    private final State state;

    private NotWhole(State state, String why) {
        super(why, null, false, false);
        this.state = state;
    }

    /** A rule fails that holds in every healthy file. */
    static NotWhole broken(String why) {
        return new NotWhole(State.BROKEN, why);
    }

    /** Healthy files look like this, too. */
    static NotWhole suspect(String why) {
        return new NotWhole(State.SUSPECT, why);
    }

    /** The format leaves open whether this is all. */
    static NotWhole unknown() {
        return unknown("");
    }

    /** Nobody knows, for this reason. */
    static NotWhole unknown(String why) {
        return new NotWhole(State.UNKNOWN, why);
    }

    Verdict verdict(String format) {
        return new Verdict(state, format, String.valueOf(getMessage()));
    }
}
