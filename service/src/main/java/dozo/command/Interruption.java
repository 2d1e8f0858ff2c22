package dozo.command;

import java.io.PrintWriter;

/** Tells whoever ends a waiting command, for example with Ctrl-C, that the work goes on in the service. */
final class Interruption implements AutoCloseable {

    private final Thread hook;

    private Interruption(Thread hook) {
        this.hook = hook;
    }

    /** Prints this line if the process is stopped before the result is closed. */
    static Interruption says(Connection service, String line) {
        PrintWriter err = service.commandLine().getErr();
        Thread hook = new Thread(() -> {
            err.println();
            err.println("dozo: " + line);
            err.flush();
        });
        Runtime.getRuntime().addShutdownHook(hook);
        return new Interruption(hook);
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException stopping) {
            // The process is being stopped, and the line is being printed.
        }
    }
}
