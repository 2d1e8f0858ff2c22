package dozo.file;

/** What an entry is. Sockets, devices and fifos are findings, never entries. */
public enum EntryKind {
    FILE('f'),
    DIRECTORY('d'),
    LINK('l');

    private final char code;

    EntryKind(char code) {
        this.code = code;
    }

    /** The letter that stands for it in the catalogue: {@code f}, {@code d} or {@code l}. */
    public char code() {
        return code;
    }

    public static EntryKind of(char code) {
        return switch (code) {
            case 'f' -> FILE;
            case 'd' -> DIRECTORY;
            case 'l' -> LINK;
            default -> throw new IllegalArgumentException("no entry kind has the code " + code);
        };
    }
}
