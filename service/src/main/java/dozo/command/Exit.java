package dozo.command;

/** Exit codes, for scripts; from 64 on as in sysexits.h. */
public final class Exit {

    /** All is well: the command is done, the run complete, everything safe. */
    public static final int WELL = 0;

    /** There are findings, or not everything is safe. */
    public static final int NOT_SAFE = 1;

    /** The command line is invalid. */
    public static final int USAGE = 2;

    /** The service refused the request: the message names the field and the expected value. */
    public static final int REFUSED = 3;

    /** The service cannot be reached, or cannot start because something it needs is missing or in use. */
    public static final int UNAVAILABLE = 69;

    /** A defect of Dozo. */
    public static final int DEFECT = 70;

    /** Name or password is missing or wrong, or the user is not permitted to do this. */
    public static final int NOT_ALLOWED = 77;

    /** A setting is wrong. */
    public static final int CONFIGURATION = 78;

    private Exit() {}
}
