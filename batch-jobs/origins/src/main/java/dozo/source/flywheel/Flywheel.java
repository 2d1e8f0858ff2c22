package dozo.source.flywheel;

import dozo.source.delivery.Asking;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Trouble;
import dozo.source.http.Answer;
import dozo.source.http.Connections;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A Flywheel's API, to which only reading requests are sent. Every answer has a limit in size and time, and temporary
 * failures are retried a few times. The key is sent only to its own host. Safe for use by several threads.
 */
public final class Flywheel implements AutoCloseable {

    /** The limit of a JSON answer: 250 containers with everything that people wrote into them. */
    static final int JSON_BYTES_MAX = 32 << 20;

    private static final int ERROR_BYTES_MAX = 64 << 10;
    private static final int MESSAGE_LENGTH_MAX = 200;
    private static final int REDIRECTS_MAX = 3;
    private static final JsonMapper JSON = new JsonMapper();

    private final ApiKey key;
    private final Set<String> storageHosts;
    private final InstantSource clock;
    private final Asking asking;
    private final AtomicLong requests = new AtomicLong();

    /** Receives a successful answer. */
    @FunctionalInterface
    interface Receiver {
        void take(Answer answer) throws IOException;
    }

    /** @param error the beginning of an error answer's body */
    private record Reply(Answer answer, String error) {}

    /** @param storageHosts hosts to which downloads may be redirected, over TLS and without the key; usually none */
    public Flywheel(ApiKey key, Limits limits, Set<String> storageHosts, Pause pause, InstantSource clock) {
        this.key = key;
        this.storageHosts = Set.copyOf(storageHosts);
        this.clock = clock;
        this.asking = new Asking(limits, pause, clock);
    }

    /**
     * Returns whether this trouble prevents every other request too. NB: a storage host may be unreachable while
     * Flywheel answers.
     */
    static boolean endsAll(Trouble trouble) {
        return trouble == Trouble.KEY_REFUSED || trouble == Trouble.SPOOL;
    }

    /** Returns how many requests were sent. */
    public long requests() {
        return requests.get();
    }

    @Override
    public void close() {
        asking.close();
    }

    /** Returns whether Flywheel answers at all. Sends one request, without a retry. */
    public boolean answers() throws InterruptedException {
        try {
            ask();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Asks whether Flywheel answers and accepts the key. Sends one request, without a retry.
     *
     * @throws DeliveryException if it does not
     */
    public void ask() throws IOException, InterruptedException {
        try {
            exchange("/auth/status", null, answer -> whole(answer, JSON_BYTES_MAX));
        } catch (DeliveryException e) {
            throw e.trouble() == Trouble.REFUSED
                    ? new DeliveryException(Trouble.KEY_REFUSED, "Flywheel rejects the API key", e)
                    : e;
        }
    }

    InstantSource clock() {
        return clock;
    }

    /** Encodes any text as a segment of a path. */
    static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /**
     * Returns the JSON at this path below {@code /api}.
     *
     * @throws DeliveryException if it cannot be read, after all tries
     */
    JsonNode get(String path) throws IOException, InterruptedException {
        return persist(() -> {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            exchange(path, null, answer -> bytes.writeBytes(whole(answer, JSON_BYTES_MAX)));
            try {
                return JSON.readTree(bytes.toByteArray());
            } catch (JacksonException e) {
                throw new DeliveryException(Trouble.UNPARSED, path + ": the answer is not JSON");
            }
        });
    }

    /**
     * Retries as {@link Asking} does. If the key is refused, it is checked and the attempt is made once more: the key
     * may be valid for everything else.
     */
    <T> T persist(Asking.Attempt<T> attempt) throws IOException, InterruptedException {
        return asking.persist(() -> {
            try {
                return attempt.once();
            } catch (DeliveryException e) {
                if (e.trouble() != Trouble.REFUSED) {
                    throw e;
                }
                checkKey();
                asking.await(1, null);
                return attempt.once();
            }
        });
    }

    /** Throws if the key is not accepted at all. */
    private void checkKey() throws IOException, InterruptedException {
        try {
            ask();
        } catch (DeliveryException e) {
            if (e.trouble() == Trouble.KEY_REFUSED) {
                throw e;
            }
        }
    }

    /**
     * Sends one request, without a retry.
     *
     * @param range a Range header's value, or null
     */
    void exchange(String path, @Nullable String range, Receiver receiver) throws IOException, InterruptedException {
        URI uri = URI.create(key.base() + path);
        for (int redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
            Reply told = send(uri, path, range, receiver);
            int status = told.answer().status();
            if (status / 100 == 2) {
                return;
            }
            if (status / 100 != 3) {
                throw refusal(path, told);
            }
            uri = redirected(path, uri, told.answer());
        }
        throw new DeliveryException(Trouble.REDIRECTED, "%s: more than %d redirects".formatted(path, REDIRECTS_MAX));
    }

    private Reply send(URI uri, String path, @Nullable String range, Receiver receiver)
            throws IOException, InterruptedException {
        Map<String, String> headers = new HashMap<>();
        if (isOurs(uri)) {
            headers.put("Authorization", key.authorization());
        }
        if (range != null) {
            headers.put("Range", range);
        }
        requests.incrementAndGet();
        return asking.once(path, new Connections.Request(uri, headers, null), answer -> told(answer, receiver));
    }

    private static Reply told(Answer answer, Receiver receiver) throws IOException {
        if (answer.status() / 100 != 2) {
            return new Reply(answer, new String(whole(answer, ERROR_BYTES_MAX), StandardCharsets.UTF_8));
        }
        receiver.take(answer);
        return new Reply(answer, "");
    }

    private static byte[] whole(Answer answer, int bytesMax) throws IOException {
        try (InputStream body = answer.body(bytesMax)) {
            return body.readAllBytes();
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

    private DeliveryException refusal(String path, Reply told) {
        String message = "%s: %d %s".formatted(path, told.answer().status(), message(told.error()));
        return asking.refusal(message.strip(), told.answer());
    }

    /** Returns the server's message; HTML from a proxy before it is left out. */
    private String message(String body) {
        try {
            String text = key.without(JSON.readTree(body).path("message").asString(""));
            String shown = Answers.shown(text);
            return shown.length() > MESSAGE_LENGTH_MAX ? shown.substring(0, MESSAGE_LENGTH_MAX) + "…" : shown;
        } catch (JacksonException e) {
            return "";
        }
    }

    /**
     * Returns the target of a redirect: the same host, or an allowed one over TLS. NB: a signed address is itself a
     * secret.
     */
    private URI redirected(String path, URI from, Answer answer) throws DeliveryException {
        URI to;
        try {
            to = from.resolve(answer.header("Location").orElseThrow(IllegalArgumentException::new));
        } catch (IllegalArgumentException e) {
            throw new DeliveryException(Trouble.REDIRECTED, path + ": redirect without a valid address");
        }
        boolean known = to.getHost() != null && storageHosts.contains(to.getHost());
        if (!isOurs(to) && !(known && "https".equals(to.getScheme()))) {
            throw new DeliveryException(
                    Trouble.REDIRECTED,
                    "%s: redirect to host %s, which is not an allowed storage host"
                            .formatted(path, Answers.shown(String.valueOf(to.getHost()))));
        }
        return to;
    }
}
