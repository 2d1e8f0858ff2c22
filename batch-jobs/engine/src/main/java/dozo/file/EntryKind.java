package dozo.file;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** The kind of an entry. Sockets, devices and fifos are findings, never entries. */
public enum EntryKind {
    FILE('f'),
    DIRECTORY('d'),
    LINK('l');

    private final char code;

    EntryKind(char code) {
        this.code = code;
    }

    /** Returns its letter in the catalogue: {@code f}, {@code d} or {@code l}. */
    public char code() {
        return code;
    }

    /** Returns its word in REST: file, directory or link. */
    @JsonValue
    public String word() {
        return name().toLowerCase(Locale.ROOT);
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
