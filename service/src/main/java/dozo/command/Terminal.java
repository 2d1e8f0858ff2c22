package dozo.command;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Detects terminals. */
final class Terminal {

    private Terminal() {}

    @SuppressWarnings("SystemConsoleNull") // since JDK 25 it is null again if there is no terminal
    private static boolean attached() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }

    /**
     * Returns whether standard error is a terminal, on which a line can be overwritten. On Linux, a link in /proc answers this at once; elsewhere, Java's
     * console does.
     */
    static boolean takesErrors() {
        return takes(2);
    }

    /** Returns whether standard output is a terminal, in the same way. */
    static boolean takesOutput() {
        return takes(1);
    }

    private static boolean takes(int stream) {
        try {
            String file =
                    Files.readSymbolicLink(Path.of("/proc/self/fd/" + stream)).toString();
            return file.startsWith("/dev/pts/") || file.startsWith("/dev/tty") || file.equals("/dev/console");
        } catch (IOException otherSystem) {
            return attached();
        }
    }
}
