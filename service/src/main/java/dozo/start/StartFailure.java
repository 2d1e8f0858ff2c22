package dozo.start;

import java.net.BindException;
import java.time.Duration;
import java.util.Optional;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.web.server.PortInUseException;
import org.springframework.util.unit.DataSize;

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
                case org.springframework.boot.context.properties.bind.BindException setting -> {
                    return Optional.of(of(setting));
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
                            "cannot listen at this address (DOZO_HTTP_ADDRESS): one of this machine's is allowed",
                            thrown));
                }
                default -> {
                    // Look deeper.
                }
            }
        }
        return Optional.empty();
    }

    private static StartFailure of(org.springframework.boot.context.properties.bind.BindException setting) {
        Throwable deepest = setting;
        for (Throwable cause = setting; cause != null; cause = cause.getCause()) {
            if (cause instanceof StartFailure known) {
                return known;
            }
            if (cause instanceof UnboundConfigurationPropertiesException) {
                break;
            }
            deepest = cause;
        }
        ConfigurationProperty property = setting.getProperty();
        if (property == null) {
            // Our settings check themselves, and name the key.
            return new StartFailure(CONFIGURATION, String.valueOf(deepest.getMessage()), setting);
        }
        return new StartFailure(
                CONFIGURATION,
                "%s is \"%s\": %s is allowed"
                        .formatted(
                                property.getName(),
                                property.getName().toString().contains("password") ? "…" : property.getValue(),
                                kind(setting)),
                setting);
    }

    private static String kind(org.springframework.boot.context.properties.bind.BindException setting) {
        Class<?> wanted = setting.getTarget().getType().resolve(Object.class);
        if (wanted == int.class || wanted == Integer.class || wanted == long.class || wanted == Long.class) {
            return "a whole number";
        }
        if (wanted == Duration.class) {
            return "a time as 10s, 36h, 90d";
        }
        if (wanted == DataSize.class) {
            return "a size as 512KB, 200MB, 1GB";
        }
        return wanted == boolean.class || wanted == Boolean.class ? "true or false" : "another form";
    }
}
