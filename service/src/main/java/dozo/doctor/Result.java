package dozo.doctor;

/**
 * What a check found.
 *
 * @param about what was checked, in a few words
 * @param cure what to do, in one sentence; empty if nothing is to be done
 */
public record Result(State state, String about, String message, String cure) {

    /** How something stands. */
    public enum State {
        OK,
        /** It works; something may be better. */
        HINT,
        /** It works now, and will not in some case; or it could not be checked. */
        WARNING,
        /** The service or its nights do not work. */
        BROKEN;

        /** Returns whether a person must do something. */
        public boolean needsPerson() {
            return this == WARNING || this == BROKEN;
        }
    }

    public Result {
        // Texts of servers and names of files may contain anything.
        message = message.replaceAll("\\s+", " ").replaceAll("\\p{Cntrl}", "?").strip();
    }

    static Result ok(String about, String message) {
        return new Result(State.OK, about, message, "");
    }

    static Result hint(String about, String message, String cure) {
        return new Result(State.HINT, about, message, cure);
    }

    static Result warning(String about, String message, String cure) {
        return new Result(State.WARNING, about, message, cure);
    }

    static Result broken(String about, String message, String cure) {
        return new Result(State.BROKEN, about, message, cure);
    }
}
