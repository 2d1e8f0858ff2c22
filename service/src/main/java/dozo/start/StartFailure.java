package dozo.start;

import java.net.BindException;
import java.util.Optional;
import org.flywaydb.core.api.exception.FlywayValidateException;
import org.springframework.boot.web.server.PortInUseException;

/** Why the service cannot start, in one line for whoever starts it: the thing, and what is allowed. */
public final class StartFailure extends RuntimeException {

    /** Something it needs is not there or in use; as in sysexits.h. */
    public static final int UNAVAILABLE = 69;

    /** A setting is wrong; as in sysexits.h. */
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

    /** The line. */
    public String message() {
        return String.valueOf(getMessage());
    }

    /** What a failed start is to be told as; empty when it is a defect. */
    public static Optional<StartFailure> of(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            switch (cause) {
                case StartFailure known -> {
                    return Optional.of(known);
                }
                case PortInUseException port -> {
                    return Optional.of(new StartFailure(
                            UNAVAILABLE,
                            "port %d (DOZO_HTTP_PORT) is in use: stop who uses it, or name another port"
                                    .formatted(port.getPort()),
                            thrown));
                }
                case BindException address -> {
                    return Optional.of(new StartFailure(
                            CONFIGURATION,
                            "cannot listen at this address (DOZO_HTTP_ADDRESS): expected an address of this machine",
                            thrown));
                }
                case FlywayValidateException schema -> {
                    return Optional.of(new StartFailure(
                            UNAVAILABLE,
                            "the database was made by another version of Dozo, and nothing in it was changed: expected an empty"
                                    + " database in DOZO_DB_URL, or for the embedded one no folder \"postgres\" in DOZO_WORK",
                            thrown));
                }
                default -> {
                    // Look deeper.
                }
            }
        }
        return Optional.empty();
    }
}
