package dozo.command;

import picocli.CommandLine.Help.Ansi;

/** What a state means for the reader, as a colour on a terminal that shows colours; {@code NO_COLOR} is respected. */
public enum Colour {
    GOOD(32),
    WAITING(33),
    BAD(31);

    /** The parameter of SGR (ECMA-48, 8.3.117). */
    private final int code;

    Colour(int code) {
        this.code = code;
    }

    /** Returns a text in this colour, or the text itself where there are no colours. */
    public String of(String text) {
        return Ansi.AUTO.enabled() ? "\u001b[%dm%s\u001b[0m".formatted(code, text) : text;
    }
}
