package dozo.source.flywheel;

import dozo.file.FilePath;
import dozo.source.http.Answer;
import dozo.source.http.Connections;
import dozo.source.http.HttpFailure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A Flywheel's API, of which only reading requests are sent. Every answer has a limit in size and time, and what may pass is tried
 * again a few times. The key goes to the host that it is for and to no other. Safe for several threads.
 */
public final class Flywheel implements AutoCloseable {

    /** No answer in JSON is longer: 250 containers with everything that people wrote into them. */
    static final int JSON_BYTES_MAX = 32 << 20;

    private static final int ERROR_BYTES_MAX = 64 << 10;
    private static final int MESSAGE_LENGTH_MAX = 200;
    private static final int REDIRECTS_MAX = 3;
    private static final JsonMapper JSON = new JsonMapper();

    private final ApiKey key;
    private final Limits limits;
    private final Set<String> storageHosts;
    private final Pause pause;
    private final RandomGenerator random;
    private final InstantSource clock;
    private final Connections http;
    private final AtomicLong requests = new AtomicLong();

    /** Takes a good answer. */
    @FunctionalInterface
    interface Receiver {
        void take(Answer answer) throws IOException;
    }

    /** @param error the beginning of what was said, where it was no good answer */
    private record Told(Answer answer, String error) {}

    /** Something that is done again when it fails for a reason that may pass. */
    @FunctionalInterface
    interface Attempt<T> {
        T once() throws IOException, InterruptedException;
    }

    /**
     * @param storageHosts where downloads may be sent on to, over TLS and without the key; usually none
     */
    public Flywheel(
            ApiKey key,
            Limits limits,
            Set<String> storageHosts,
            Pause pause,
            RandomGenerator random,
            InstantSource clock) {
        this.key = key;
        this.limits = limits;
        this.storageHosts = Set.copyOf(storageHosts);
        this.pause = pause;
        this.random = random;
        this.clock = clock;
        this.http = new Connections(limits.connect(), limits.answer(), limits.stall());
    }

    /** How many requests were sent. */
    public long requests() {
        return requests.get();
    }

    @Override
    public void close() {
        http.close();
    }

    /** Whether it answers at all, asked once: else nothing of it can be had now. */
    public boolean answers() throws InterruptedException {
        try {
            exchange("/auth/status", null, answer -> whole(answer, JSON_BYTES_MAX));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    InstantSource clock() {
        return clock;
    }

    /** A path's segment, whatever is in it. */
    static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /**
     * What is at this path below {@code /api}.
     *
     * @throws FlywheelException when it cannot be had, after all tries
     */
    JsonNode get(String path) throws IOException, InterruptedException {
        return persist(() -> {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            exchange(path, null, answer -> bytes.writeBytes(whole(answer, JSON_BYTES_MAX)));
            try {
                return JSON.readTree(bytes.toByteArray());
            } catch (JacksonException e) {
                throw new FlywheelException(Trouble.UNPARSED, path + ": the answer is no JSON");
            }
        });
    }

    /**
     * Tries until it succeeds, or fails for a reason that does not pass, or often enough. A key that is refused is asked after: it
     * may be good for all else.
     */
    <T> T persist(Attempt<T> attempt) throws IOException, InterruptedException {
        boolean keyChecked = false;
        for (int tried = 1; ; tried++) {
            try {
                return attempt.once();
            } catch (FlywheelException e) {
                if (e.trouble() == Trouble.REFUSED && !keyChecked) {
                    checkKey();
                    keyChecked = true;
                } else if (!e.trouble().mayPass() || tried >= limits.tries()) {
                    throw e;
                }
                pause.await(waitBefore(tried + 1, e.retryAfter()));
            }
        }
    }

    /** Whether the key is accepted at all. */
    private void checkKey() throws IOException, InterruptedException {
        try {
            exchange("/auth/status", null, answer -> whole(answer, JSON_BYTES_MAX));
        } catch (FlywheelException e) {
            if (e.trouble() == Trouble.REFUSED) {
                throw new FlywheelException(Trouble.KEY_REFUSED, "Flywheel does not accept the key any more", e);
            }
        }
    }

    private Duration waitBefore(int attempt, @Nullable Duration demanded) {
        Duration wait = demanded;
        if (wait == null) {
            long doubled = limits.firstWait().toMillis() << Math.min(attempt - 2, 20);
            wait = Duration.ofMillis(doubled + random.nextLong(doubled / 2 + 1));
        }
        return wait.compareTo(limits.longestWait()) > 0 ? limits.longestWait() : wait;
    }

    /**
     * One request, without a second try.
     *
     * @param range a Range header's value, or null
     */
    void exchange(String path, @Nullable String range, Receiver receiver) throws IOException, InterruptedException {
        URI uri = URI.create(key.base() + path);
        for (int redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
            Told told = send(uri, path, range, receiver);
            int status = told.answer().status();
            if (status / 100 == 2) {
                return;
            }
            if (status / 100 != 3) {
                throw refusal(path, told);
            }
            uri = redirected(path, uri, told.answer());
        }
        throw new FlywheelException(
                Trouble.REDIRECTED, "%s: sent on more than %d times".formatted(path, REDIRECTS_MAX));
    }

    private Told send(URI uri, String path, @Nullable String range, Receiver receiver)
            throws IOException, InterruptedException {
        Map<String, String> headers = new HashMap<>();
        if (isOurs(uri)) {
            headers.put("Authorization", key.authorization());
        }
        if (range != null) {
            headers.put("Range", range);
        }
        requests.incrementAndGet();
        try {
            return http.exchange(new Connections.Request(uri, headers, null), answer -> told(answer, receiver));
        } catch (HttpFailure e) {
            throw new FlywheelException(trouble(e.kind()), path + ": " + e.getMessage(), e);
        } catch (FlywheelException e) {
            throw new FlywheelException(e.trouble(), path + ": " + e.getMessage(), e);
        }
    }

    private static Told told(Answer answer, Receiver receiver) throws IOException {
        if (answer.status() / 100 != 2) {
            return new Told(answer, new String(whole(answer, ERROR_BYTES_MAX), StandardCharsets.UTF_8));
        }
        receiver.take(answer);
        return new Told(answer, "");
    }

    private static byte[] whole(Answer answer, int bytesMax) throws IOException {
        try (InputStream body = answer.body(bytesMax)) {
            return body.readAllBytes();
        }
    }

    private static Trouble trouble(HttpFailure.Kind kind) {
        return switch (kind) {
            case UNREACHABLE -> Trouble.UNREACHABLE;
            case STALLED -> Trouble.STALLED;
            case DROPPED -> Trouble.DROPPED;
            case TOO_LARGE -> Trouble.TOO_LARGE;
        };
    }

    private boolean isOurs(URI uri) {
        URI base = key.base();
        return base.getScheme().equals(uri.getScheme())
                && base.getHost().equalsIgnoreCase(uri.getHost())
                && base.getPort() == port(uri);
    }

    private static int port(URI uri) {
        if (uri.getPort() >= 0) {
            return uri.getPort();
        }
        return "https".equals(uri.getScheme()) ? 443 : 80;
    }

    private FlywheelException refusal(String path, Told told) {
        int status = told.answer().status();
        Trouble trouble = switch (status) {
            case 401, 402 -> Trouble.REFUSED;
            case 403 -> Trouble.DENIED;
            case 404, 410 -> Trouble.GONE;
            case 429 -> Trouble.BUSY;
            case 408 -> Trouble.STALLED;
            default -> status >= 500 ? Trouble.SERVER_FAULT : Trouble.REJECTED;
        };
        String message =
                "%s: %d %s".formatted(path, status, message(told.error())).strip();
        return new FlywheelException(trouble, message, null, retryAfter(told.answer()));
    }

    /** What the server says; a proxy before it may say it in HTML, which is left out. */
    private String message(String body) {
        try {
            String text = key.without(JSON.readTree(body).path("message").asString(""));
            String shown = FilePath.render(text.getBytes(StandardCharsets.UTF_8));
            return shown.length() > MESSAGE_LENGTH_MAX ? shown.substring(0, MESSAGE_LENGTH_MAX) + "…" : shown;
        } catch (JacksonException e) {
            return "";
        }
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

    /** Where an answer may send us on to: the same host, or a named one over TLS. NB: a signed address is itself a secret. */
    private URI redirected(String path, URI from, Answer answer) throws FlywheelException {
        URI to;
        try {
            to = from.resolve(answer.header("Location").orElseThrow(IllegalArgumentException::new));
        } catch (IllegalArgumentException e) {
            throw new FlywheelException(Trouble.REDIRECTED, path + ": sent on, and not to an address");
        }
        boolean known = to.getHost() != null && storageHosts.contains(to.getHost());
        if (!isOurs(to) && !(known && "https".equals(to.getScheme()))) {
            throw new FlywheelException(
                    Trouble.REDIRECTED,
                    "%s: sent on to the host %s, which is not among those that downloads may come from"
                            .formatted(
                                    path,
                                    FilePath.render(String.valueOf(to.getHost()).getBytes(StandardCharsets.UTF_8))));
        }
        return to;
    }
}
