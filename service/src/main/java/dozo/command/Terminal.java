package dozo.command;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether a person is looking. */
public final class Terminal {

    private Terminal() {}

    /** Whether input and output are a terminal, on which a line can be written over. */
    @SuppressWarnings("SystemConsoleNull") // since JDK 25 it is null again where there is no terminal
    public static boolean attached() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }

    /** Whether standard error is a terminal. Linux says so at once; Java would have to be asked for its console. */
    static boolean takesErrors() {
        try {
            String errors = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return errors.startsWith("/dev/pts/") || errors.startsWith("/dev/tty") || errors.equals("/dev/console");
        } catch (IOException otherSystem) {
            return attached();
        }
    }
}
