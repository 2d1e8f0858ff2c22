package dozo.command;

import java.io.Console;

/** Whether a person is looking. */
public final class Terminal {

    private Terminal() {}

    /** Whether input and output are a terminal, on which a line can be written over. */
    @SuppressWarnings("SystemConsoleNull") // since JDK 25 it is null again where there is no terminal
    public static boolean attached() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }
}
