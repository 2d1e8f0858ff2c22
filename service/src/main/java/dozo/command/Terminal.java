package dozo.command;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Detects terminals, and asks for secrets there. */
final class Terminal {

    private Terminal() {}

    /** Returns the terminal of standard input and output; empty if one of them is something else. */
    static Optional<Console> console() {
        return Optional.ofNullable(System.console()).filter(Console::isTerminal);
    }

    /** Shows a question and returns what is typed, without showing it; null if that is not possible. */
    static char @Nullable [] secret(String question) {
        return console().map(console -> console.readPassword("%s", question)).orElse(null);
    }

    /** Returns whether somebody can be asked: standard input and output are a terminal. */
    static boolean canAsk() {
        return takes(0) && takes(1);
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
            return console().isPresent();
        }
    }
}
