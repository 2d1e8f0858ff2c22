package dozo.source.delivery;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLException;
import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.EntityTemplate;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * Connections to servers (ADR 0044): HTTP/1.1, without redirects, cookies or decoding. The reading thread
 * copies an answer's bytes from the socket into the caller's array. Every answer has a time limit; only
 * {@link #persist} retries. Safe for use by several threads.
 */
public final class Connections implements AutoCloseable {

    /** The limit for all servers together; further requests wait. */
    private static final int CONNECTIONS_MAX = 256;

    private final Limits limits;
    private final Pause pause;
    private final InstantSource clock;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("http-watch").factory());
    private final CloseableHttpClient http;

    /**
     * A request.
     *
     * @param what names it in messages; nothing secret, nothing about a patient
     * @param body null for none
     */
    public record Request(
            String method,
            String what,
            URI uri,
            Map<String, String> headers,
            @Nullable Upload body) {

        /** Creates a GET, or a POST with this body. */
        public Request(String what, URI uri, Map<String, String> headers, @Nullable Upload posted) {
            this(posted == null ? "GET" : "POST", what, uri, headers, posted);
        }
    }

    @FunctionalInterface
    public interface Reading<T> {
        T of(Answer answer) throws IOException, InterruptedException;
    }

    /** An operation that is retried after a temporary failure. */
    @FunctionalInterface
    public interface Attempt<T> {
        T once() throws IOException, InterruptedException;
    }

    public Connections(Limits limits, Pause pause, InstantSource clock) {
        this.limits = limits;
        this.pause = pause;
        this.clock = clock;
        this.http = HttpClients.custom()
                .useSystemProperties()
                .setUserAgent("dozo")
                .disableAutomaticRetries()
                .disableRedirectHandling()
                .disableContentCompression()
                .disableCookieManagement()
                .disableAuthCaching()
                .setDefaultRequestConfig(RequestConfig.custom()
                        .setResponseTimeout(Timeout.of(limits.answer()))
                        .setProtocolUpgradeEnabled(false)
                        .build())
                .setConnectionManager(PoolingHttpClientConnectionManagerBuilder.create()
                        .useSystemProperties()
                        .setMaxConnTotal(CONNECTIONS_MAX)
                        .setMaxConnPerRoute(CONNECTIONS_MAX)
                        .setDefaultConnectionConfig(ConnectionConfig.custom()
                                .setConnectTimeout(Timeout.of(limits.connect()))
                                .build())
                        .build())
                .build();
    }

    @Override
    public void close() {
        http.close(CloseMode.IMMEDIATE);
        watch.shutdownNow();
        threads.shutdownNow();
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
     * Sends one request, without a retry. Nothing reads from the connection after this method returns.
     *
     * @throws DeliveryException if there is no answer, or only part of one
     * @throws IOException if {@code reading} throws one
     * @throws InterruptedException if interrupted; the connection is closed
     */
    public <T> T exchange(Request asked, Reading<T> reading) throws IOException, InterruptedException {
        HttpUriRequestBase request = request(asked);
        CompletableFuture<T> read = new CompletableFuture<>();
        // NB: on a separate thread, because a blocking socket read ignores interruption and the caller must not.
        threads.execute(() -> read(asked.what(), request, reading, read));
        try {
            return read.get();
        } catch (ExecutionException e) {
            throw unwrapped(e);
        } catch (InterruptedException e) {
            request.cancel();
            read.handle((value, failed) -> null).join();
            throw e;
        }
    }

    private HttpUriRequestBase request(Request asked) {
        Upload body = asked.body();
        HttpUriRequestBase request = new HttpUriRequestBase(asked.method(), asked.uri());
        if (body != null) {
            request.setEntity(new EntityTemplate(
                    body.lengthBytes(),
                    body.type().isEmpty() ? null : ContentType.parse(body.type()),
                    null,
                    out -> WatchedUpload.send(body, out, limits.stall(), watch, request::cancel)));
        }
        asked.headers().forEach(request::setHeader);
        return request;
    }

    // Everything thrown, including an Error, must reach the waiting caller.
    @SuppressWarnings("CatchingUnchecked")
    private <T> void read(String what, HttpUriRequestBase request, Reading<T> reading, CompletableFuture<T> read) {
        try (ClassicHttpResponse response = open(what, request)) {
            Answer answer = new Answer(what, request, response, limits.stall(), watch);
            T value = reading.of(answer);
            answer.finish();
            read.complete(value);
        } catch (Throwable e) {
            read.completeExceptionally(e);
        }
    }

    private ClassicHttpResponse open(String what, HttpUriRequestBase request) throws DeliveryException {
        try {
            return http.executeOpen(null, request, null);
        } catch (IOException e) {
            throw failure(what, e);
        }
    }

    /** NB: names only the cause's class, because its text may contain the request's path. */
    private static DeliveryException failure(String what, IOException cause) {
        String kind = cause.getClass().getSimpleName();
        return switch (cause) {
            case ConnectTimeoutException _,
                    ConnectException _,
                    UnknownHostException _,
                    NoRouteToHostException _,
                    SSLException _ ->
                new DeliveryException(Trouble.UNREACHABLE, "%s: no connection: %s".formatted(what, kind));
            case InterruptedIOException _ ->
                new DeliveryException(Trouble.STALLED, what + ": no answer within the time limit");
            default -> new DeliveryException(Trouble.DROPPED, "%s: connection closed: %s".formatted(what, kind));
        };
    }

    private static IOException unwrapped(ExecutionException e) throws InterruptedException {
        return switch (e.getCause()) {
            case IOException io -> io;
            case InterruptedException interrupted -> throw interrupted;
            case RuntimeException defect -> throw defect;
            case Error error -> throw error;
            case null, default -> new IOException(e);
        };
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
