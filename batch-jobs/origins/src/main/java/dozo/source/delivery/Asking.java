package dozo.source.delivery;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to servers. Every answer has a time limit; a failure that may be temporary is retried a few times.
 * Safe for use by several threads.
 */
public final class Asking implements AutoCloseable {

    private final Limits limits;
    private final Pause pause;
    private final InstantSource clock;
    private final Connections http;

    /** An operation that is retried after a temporary failure. */
    @FunctionalInterface
    public interface Attempt<T> {
        T once() throws IOException, InterruptedException;
    }

    public Asking(Limits limits, Pause pause, InstantSource clock) {
        this.limits = limits;
        this.pause = pause;
        this.clock = clock;
        this.http = new Connections(limits.connect(), limits.answer(), limits.stall());
    }

    @Override
    public void close() {
        http.close();
    }

    /**
     * Retries until the attempt succeeds, fails permanently, or has used up its tries.
     *
     * @throws DeliveryException if there is no good answer
     */
    public <T> T persist(Attempt<T> attempt) throws IOException, InterruptedException {
        for (int tried = 1; ; tried++) {
            try {
                return attempt.once();
            } catch (DeliveryException e) {
                if (!e.trouble().mayPass() || tried >= limits.tries()) {
                    throw e;
                }
                await(tried, e.retryAfter());
            }
        }
    }

    /** Waits before the next try: as long as the server demands, else with exponential back-off. */
    public void await(int tried, @Nullable Duration demanded) throws InterruptedException {
        Duration wait = demanded;
        if (wait == null) {
            long doubled = limits.firstWait().toMillis() << Math.min(tried - 1, 20);
            wait = Duration.ofMillis(doubled + ThreadLocalRandom.current().nextLong(doubled / 2 + 1));
        }
        pause.await(wait.compareTo(limits.longestWait()) > 0 ? limits.longestWait() : wait);
    }

    /**
     * Sends one request, without a retry.
     *
     * @throws DeliveryException if there is no answer, or only part of one
     */
    public <T> T once(Connections.Request asked, Connections.Reading<T> reading)
            throws IOException, InterruptedException {
        return http.exchange(asked, reading);
    }

    /** Returns the exception for an error answer. */
    public DeliveryException refusal(String message, Answer answer) {
        int status = answer.status();
        Trouble trouble = switch (status) {
            case 401, 402 -> Trouble.REFUSED;
            case 403 -> Trouble.DENIED;
            case 404, 410 -> Trouble.GONE;
            case 408 -> Trouble.STALLED;
            case 429 -> Trouble.BUSY;
            default -> {
                if (status >= 500) {
                    yield Trouble.SERVER_FAULT;
                }
                yield status / 100 == 3 ? Trouble.REDIRECTED : Trouble.REJECTED;
            }
        };
        return new DeliveryException(trouble, message, null, retryAfter(answer));
    }

    /** Encodes any text as a segment of a request's path, or as a value in its query. */
    public static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private @Nullable Duration retryAfter(Answer answer) {
        String text = answer.header("Retry-After").orElse("");
        if (text.matches("[0-9]{1,9}")) {
            return Duration.ofSeconds(Long.parseLong(text));
        }
        try {
            ZonedDateTime until = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME);
            Duration wait = Duration.between(clock.instant(), until.toInstant());
            return wait.isNegative() ? Duration.ZERO : wait;
        } catch (DateTimeParseException e) {
            return null;
        }
    }
}
