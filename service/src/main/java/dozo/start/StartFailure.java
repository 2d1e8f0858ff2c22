package dozo.start;

import java.net.BindException;
import java.util.Optional;
import org.springframework.boot.web.server.PortInUseException;

/** Why the service cannot start, in one line: the cause and the expected value. */
public final class StartFailure extends RuntimeException {

    /** Exit code, as in sysexits.h: something that the service needs is missing or in use. */
    public static final int UNAVAILABLE = 69;

    /** Exit code, as in sysexits.h: a setting is wrong. */
    public static final int CONFIGURATION = 78;

    private static final long serialVersionUID = 1L;

    private final int exitCode;

    public StartFailure(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    public StartFailure(int exitCode, String message, Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    public int exitCode() {
        return exitCode;
    }

    public String message() {
        return String.valueOf(getMessage());
    }

    /** Returns whether the start failed because another program listens at the port. */
    public boolean portInUse() {
        return getCause() instanceof PortInUseException;
    }

    /** Finds the known reason for a failed start; empty if the failure is a defect. */
    public static Optional<StartFailure> of(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case StartFailure known -> {
                    return Optional.of(known);
                }
                case PortInUseException port -> {
                    return Optional.of(new StartFailure(
                            UNAVAILABLE,
                            "port %d (DOZO_HTTP_PORT) is in use: stop the other program, or set another port"
                                    .formatted(port.getPort()),
                            port));
                }
                case BindException address -> {
                    return Optional.of(new StartFailure(
                            CONFIGURATION,
                            "cannot listen at this address (DOZO_HTTP_ADDRESS): expected an address of this machine",
                            thrown));
                }
                default -> {
                    // Check the next cause.
                }
            }
        }
        return Optional.empty();
    }
}
