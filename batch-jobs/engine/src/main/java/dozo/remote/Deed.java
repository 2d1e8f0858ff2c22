package dozo.remote;

/** What was being done when a site said no: how a message calls it, and what may be the cause. */
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
    READ_LINK("read link", false, false),
    RENAME("rename a file to", true, true),
    REMOVE("remove", false, false);

    private final String text;

    /** Fails where the name is taken. */
    final boolean makes;

    /** Fails where no room is left. */
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
