package dozo.security;

import dozo.db.ActiveService.Holder;
import dozo.file.Message;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.security.core.AuthenticationException;

/** A login that is not checked now, whether right or wrong, or a change that is not made: the reason, and when to try again. */
final class NotNow extends AuthenticationException {

    private static final long serialVersionUID = 1L;

    /** Within this time another service has taken over, if the active one has died. */
    private static final Duration TAKEOVER = Duration.ofSeconds(60);

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

    static NotNow providerGone(Throwable cause) {
        NotNow gone = new NotNow(
                HttpStatus.SERVICE_UNAVAILABLE,
                Duration.ofSeconds(30),
                Message.of("the single sign-on does not answer; try again later. Local users can log in"));
        gone.initCause(cause);
        return gone;
    }

    /** Returns the refusal of a change by a service that stands by. */
    static NotNow standsBy(@Nullable Holder active) {
        return new NotNow(HttpStatus.SERVICE_UNAVAILABLE, TAKEOVER, standsByWords(active));
    }

    private static Message standsByWords(@Nullable Holder active) {
        if (active == null) {
            return Message.of("this service stands by and changes nothing; try again later");
        }
        Instant since = active.since().truncatedTo(ChronoUnit.SECONDS);
        return active.url().isEmpty()
                ? Message.of(
                        "this service stands by and changes nothing; the service %s is active since %s",
                        active.name(), since)
                : Message.of(
                        "this service stands by and changes nothing; use %s, which is active since %s",
                        active.url(), since);
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
