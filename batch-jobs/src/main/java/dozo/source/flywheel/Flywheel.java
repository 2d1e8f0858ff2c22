package dozo.source.flywheel;

import dozo.file.FilePath;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import javax.net.ssl.SSLException;
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
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("flywheel-watch").factory());
    private final HttpClient http;
    private final AtomicLong requests = new AtomicLong();

    /** Where a download's bytes go. */
    interface Receiver {

        /**
         * The answer begins. Told again when a redirect has been followed.
         *
         * @return takes the bytes
         */
        Body.Sink begins(int status, HttpHeaders headers) throws IOException;
    }

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
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(limits.connect())
                .executor(threads)
                .build();
    }

    /** How many requests were sent. */
    public long requests() {
        return requests.get();
    }

    @Override
    public void close() {
        http.shutdownNow();
        watch.shutdownNow();
        threads.shutdownNow();
    }

    /** Whether it answers at all, asked once: else nothing of it can be had now. */
    public boolean answers() throws InterruptedException {
        try {
            exchange("/auth/status", null, JSON_BYTES_MAX, (status, headers) -> into(new ByteArrayOutputStream()));
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
            exchange(path, null, JSON_BYTES_MAX, (status, headers) -> into(bytes));
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
            exchange("/auth/status", null, JSON_BYTES_MAX, (status, headers) -> into(new ByteArrayOutputStream()));
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
     * @return how many bytes the body had
     */
    long exchange(String path, @Nullable String range, long bytesMax, Receiver receiver)
            throws IOException, InterruptedException {
        URI uri = URI.create(key.base() + path);
        for (int redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
            ByteArrayOutputStream error = new ByteArrayOutputStream();
            HttpResponse<Long> response = send(uri, path, range, handler(bytesMax, receiver, error));
            if (response.statusCode() / 100 == 2) {
                return response.body();
            }
            if (response.statusCode() / 100 != 3) {
                throw refusal(path, response, error.toString(StandardCharsets.UTF_8));
            }
            uri = redirected(path, uri, response.headers());
        }
        throw new FlywheelException(
                Trouble.REDIRECTED, "%s: sent on more than %d times".formatted(path, REDIRECTS_MAX));
    }

    private BodyHandler<Long> handler(long bytesMax, Receiver receiver, ByteArrayOutputStream error) {
        return info -> {
            if (info.statusCode() / 100 != 2) {
                return new Body(into(error), ERROR_BYTES_MAX, limits.stall(), watch);
            }
            try {
                return new Body(receiver.begins(info.statusCode(), info.headers()), bytesMax, limits.stall(), watch);
            } catch (FlywheelException e) {
                // The client hands it on to whoever waits for the answer.
                throw new UncheckedIOException(e);
            } catch (IOException e) {
                throw new UncheckedIOException(
                        new FlywheelException(Trouble.SPOOL, "the spool cannot be written: " + e, e));
            }
        };
    }

    private static Body.Sink into(ByteArrayOutputStream bytes) {
        return buffer -> {
            byte[] taken = new byte[buffer.remaining()];
            buffer.get(taken);
            bytes.writeBytes(taken);
        };
    }

    private HttpResponse<Long> send(URI uri, String path, @Nullable String range, BodyHandler<Long> handler)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(limits.answer());
        if (isOurs(uri)) {
            request.header("Authorization", key.authorization());
        }
        if (range != null) {
            request.header("Range", range);
        }
        requests.incrementAndGet();
        CompletableFuture<HttpResponse<Long>> response = http.sendAsync(request.build(), handler);
        try {
            return response.get();
        } catch (ExecutionException e) {
            throw failure(path, e.getCause() == null ? e : e.getCause());
        } catch (InterruptedException e) {
            response.cancel(true);
            throw e;
        }
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

    private static IOException failure(String path, Throwable cause) {
        for (Throwable at = cause; at != null; at = at.getCause()) {
            if (at instanceof FlywheelException ours) {
                return new FlywheelException(ours.trouble(), path + ": " + ours.getMessage(), ours);
            }
        }
        if (cause instanceof HttpConnectTimeoutException
                || cause instanceof ConnectException
                || cause instanceof SSLException) {
            return new FlywheelException(Trouble.UNREACHABLE, "no connection: " + cause, cause);
        }
        if (cause instanceof HttpTimeoutException) {
            return new FlywheelException(Trouble.STALLED, path + ": no answer in time", cause);
        }
        return new FlywheelException(Trouble.DROPPED, path + ": the connection ended: " + cause, cause);
    }

    private FlywheelException refusal(String path, HttpResponse<?> response, String body) {
        int status = response.statusCode();
        Trouble trouble = switch (status) {
            case 401, 402 -> Trouble.REFUSED;
            case 403 -> Trouble.DENIED;
            case 404, 410 -> Trouble.GONE;
            case 429 -> Trouble.BUSY;
            case 408 -> Trouble.STALLED;
            default -> status >= 500 ? Trouble.SERVER_FAULT : Trouble.REJECTED;
        };
        String message = "%s: %d %s".formatted(path, status, message(body)).strip();
        return new FlywheelException(trouble, message, null, retryAfter(response.headers()));
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

    private @Nullable Duration retryAfter(HttpHeaders headers) {
        String text = headers.firstValue("Retry-After").orElse("");
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
    private URI redirected(String path, URI from, HttpHeaders headers) throws FlywheelException {
        URI to;
        try {
            to = from.resolve(headers.firstValue("Location").orElseThrow(IllegalArgumentException::new));
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
