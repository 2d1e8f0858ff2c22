package dozo.security;

import dozo.file.Message;
import java.time.Duration;
import org.springframework.http.HttpStatus;
import org.springframework.security.core.AuthenticationException;

/** A login that is not checked now, whether right or wrong: the reason, and when to try again. */
final class NotNow extends AuthenticationException {

    private static final long serialVersionUID = 1L;

    private final HttpStatus status;
    private final transient Message message;
    private final long retryAfterSeconds;

    private NotNow(HttpStatus status, Duration wait, Message message) {
        super(message.toString());
        this.message = message;
        this.status = status;
        this.retryAfterSeconds = Math.max(1, wait.plusMillis(999).toSeconds());
    }

    static NotNow tooMany(Duration wait) {
        return new NotNow(
                HttpStatus.TOO_MANY_REQUESTS,
                wait,
                Message.of("too many logins failed or are waiting; try again in a minute"));
    }

    static NotNow directoryGone() {
        return new NotNow(
                HttpStatus.SERVICE_UNAVAILABLE,
                Duration.ofSeconds(30),
                Message.of("the user directory does not answer; try again later. Local users can log in"));
    }

    HttpStatus status() {
        return status;
    }

    Message message() {
        return message;
    }

    /** Returns how long to wait, at least 1 s. */
    long retryAfterSeconds() {
        return retryAfterSeconds;
    }
}
