package dozo.command;

import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Why a command ends early, in a line for people, and with which exit code. */
final class Failure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int exitCode;

    Failure(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }

    /** Tells why a command failed, and gives the exit code: what picocli asks for. */
    static int told(Exception failure, CommandLine commandLine, CommandLine.ParseResult parsed) {
        if (failure instanceof ParameterException usage) {
            throw usage;
        }
        if (failure instanceof Failure known) {
            commandLine.getErr().println("dozo: " + known.getMessage());
            return known.exitCode();
        }
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
            return Exit.UNAVAILABLE;
        }
        commandLine.getErr().println("dozo: this is a defect:");
        failure.printStackTrace(commandLine.getErr());
        return Exit.DEFECT;
    }
}
