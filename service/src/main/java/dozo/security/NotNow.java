package dozo.security;

import java.time.Duration;
import org.springframework.http.HttpStatus;
import org.springframework.security.core.AuthenticationException;

/** A login that is not looked at now, right or wrong: why, and when to come again. */
final class NotNow extends AuthenticationException {

    private static final long serialVersionUID = 1L;

    private final HttpStatus status;
    private final long retryAfterSeconds;

    private NotNow(HttpStatus status, Duration wait, String message) {
        super(message);
        this.status = status;
        this.retryAfterSeconds = Math.max(1, wait.plusMillis(999).toSeconds());
    }

    static NotNow tooMany(Duration wait) {
        return new NotNow(HttpStatus.TOO_MANY_REQUESTS, wait, "too many logins failed or wait: try again in a while");
    }

    static NotNow directoryGone() {
        return new NotNow(
                HttpStatus.SERVICE_UNAVAILABLE,
                Duration.ofSeconds(30),
                "the directory of users does not answer: try again later; local users can log in");
    }

    HttpStatus status() {
        return status;
    }

    /** At least 1. */
    long retryAfterSeconds() {
        return retryAfterSeconds;
    }
}
