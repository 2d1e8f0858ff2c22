package dozo.remote;

/** The operation that a site refused: its text in messages, and its possible causes. */
enum Deed {
    CREATE("create", true, true),
    OPEN("open", false, true),
    WRITE("write", false, true),
    SET_FACTS("set mode and times of", false, true),
    SYNC("sync", false, true),
    CLOSE("close", false, true),
    READ("read", false, false),
    LOOK("look at", false, false),
    LIST("list", false, false),
    DIGEST("digest", false, false),
    MAKE_FOLDER("make folder", true, true),
    MAKE_LINK("make link", true, true),
    MAKE_HARD_LINK("make hard link", true, true),
    READ_LINK("read link", false, false),
    RENAME("rename a file to", true, true),
    REMOVE("remove", false, false);

    private final String text;

    /** Fails if the name is in use. */
    final boolean makes;

    /** Fails if no room is left. */
    final boolean writes;

    Deed(String text, boolean makes, boolean writes) {
        this.text = text;
        this.makes = makes;
        this.writes = writes;
    }

    @Override
    public String toString() {
        return text;
    }
}
