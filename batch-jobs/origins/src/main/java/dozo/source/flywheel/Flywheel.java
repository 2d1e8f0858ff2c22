package dozo.source.flywheel;

import dozo.source.delivery.Answer;
import dozo.source.delivery.Connections;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Trouble;
import dozo.source.delivery.Upload;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * A Flywheel's API. Nights send only reading requests; {@link Writes} are for restores. Every answer has a limit in size and time, and temporary
 * failures are retried a few times. The key is sent only to its own host. Safe for use by several threads.
 */
public final class Flywheel implements AutoCloseable {

    /** The limit of a JSON answer: 250 containers with everything that people wrote into them. */
    static final int JSON_BYTES_MAX = 32 << 20;

    /** Troubles that prevent every other request too. NB: a storage host may be unreachable while Flywheel answers. */
    static final Set<Trouble> ENDS_ALL = Set.of(Trouble.KEY_REFUSED, Trouble.SPOOL);

    /** The page size of Flywheel's own client. */
    private static final int PAGE = 250;

    private static final int PAGES_MAX = 1_000_000;
    private static final int ERROR_BYTES_MAX = 64 << 10;
    private static final int MESSAGE_LENGTH_MAX = 200;
    private static final int REDIRECTS_MAX = 3;

    private final ApiKey key;
    private final Set<String> storageHosts;
    private final InstantSource clock;
    private final Connections http;

    @FunctionalInterface
    interface Taker {
        void take(JsonNode entry) throws IOException, InterruptedException;
    }

    /**
     * A server's reply.
     *
     * @param value null if it is not a successful answer
     * @param error the beginning of an error answer's body
     */
    private record Reply<T>(Answer answer, @Nullable T value, String error) {}

    /** @param storageHosts hosts to which downloads may be redirected, over TLS and without the key; usually none */
    public Flywheel(ApiKey key, Limits limits, Set<String> storageHosts, Pause pause, InstantSource clock) {
        this.key = key;
        this.storageHosts = Set.copyOf(storageHosts);
        this.clock = clock;
        this.http = new Connections(limits, pause, clock);
    }

    @Override
    public void close() {
        http.close();
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

    /**
     * Returns the JSON at this path below {@code /api}.
     *
     * @throws DeliveryException if it cannot be read, after all tries
     */
    JsonNode get(String path) throws IOException, InterruptedException {
        return persist(() -> {
            byte[] bytes = exchange(path, null, answer -> whole(answer, JSON_BYTES_MAX));
            try {
                return Metadata.JSON.readTree(bytes);
            } catch (JacksonException e) {
                throw new DeliveryException(Trouble.UNPARSED, path + ": the answer is not JSON");
            }
        });
    }

    /**
     * Passes on every entry of a list, which is read page by page. Each page starts after the last id of the page
     * before, so additions and deletions meanwhile shift nothing. The list ends with an empty page: a short one may be
     * due to the server's own limit.
     *
     * @param filter in Flywheel's syntax, or null
     */
    void all(String path, @Nullable String filter, Taker taker) throws IOException, InterruptedException {
        String query = "?limit=" + PAGE + (filter == null ? "" : "&filter=" + Connections.segment(filter));
        String idField = path.equals("/files") ? "file_id" : "_id";
        String last = null;
        for (int page = 0; page < PAGES_MAX; page++) {
            String asked = path + query + (last == null ? "" : "&after_id=" + Connections.segment(last));
            List<JsonNode> entries = Answers.entries(path, get(asked));
            if (entries.isEmpty()) {
                return;
            }
            for (JsonNode entry : entries) {
                taker.take(entry);
            }
            String before = last;
            last = Answers.id(entries.getLast(), idField);
            if (Objects.equals(before, last)) {
                throw new DeliveryException(Trouble.UNPARSED, path + ": the list does not continue after id " + last);
            }
        }
        throw new DeliveryException(Trouble.TOO_LARGE, path + ": the list has too many pages");
    }

    /**
     * Retries as {@link Connections} does. If the key is refused, it is checked and the attempt is made once more: the
     * key may be valid for everything else.
     */
    <T> T persist(Connections.Attempt<T> attempt) throws IOException, InterruptedException {
        return http.persist(() -> {
            try {
                return attempt.once();
            } catch (DeliveryException e) {
                if (e.trouble() != Trouble.REFUSED) {
                    throw e;
                }
                checkKey();
                http.await(1, null);
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
     * @param reading reads a successful answer
     */
    <T> T exchange(String path, @Nullable String range, Connections.Reading<T> reading)
            throws IOException, InterruptedException {
        URI uri = URI.create(key.base() + path);
        for (int redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
            Map<String, String> headers = range == null ? Map.of() : Map.of("Range", range);
            Reply<T> told = send("GET", uri, path, headers, null, reading);
            T value = told.value();
            if (value != null) {
                return value;
            }
            if (told.answer().status() / 100 != 3) {
                throw refusal(path, told);
            }
            uri = redirected(path, uri, told.answer());
        }
        throw new DeliveryException(Trouble.REDIRECTED, "%s: more than %d redirects".formatted(path, REDIRECTS_MAX));
    }

    /**
     * Sends one writing request, without a retry. Redirects are not followed.
     *
     * @return the answer's JSON; a missing node if it has no body
     */
    JsonNode write(String method, String path, Upload body) throws IOException, InterruptedException {
        Reply<byte[]> told = send(
                method, URI.create(key.base() + path), path, Map.of(), body, answer -> whole(answer, JSON_BYTES_MAX));
        byte[] bytes = told.value();
        if (bytes == null) {
            throw refusal(path, told);
        }
        try {
            return Metadata.JSON.readTree(bytes);
        } catch (JacksonException e) {
            throw new DeliveryException(Trouble.UNPARSED, path + ": the answer is not JSON");
        }
    }

    /** Sends bytes to a signed address, without the key and without a retry. NB: the address is itself a secret. */
    <T> T store(URI signed, Map<String, String> headers, Upload body, Connections.Reading<T> reading)
            throws IOException, InterruptedException {
        if (!isStorage(signed) && !key.isFor(signed)) {
            throw new DeliveryException(
                    Trouble.REDIRECTED,
                    "Flywheel's storage is at host %s, which is not an allowed storage host of the origin"
                            .formatted(Answers.shown(String.valueOf(signed.getHost()))));
        }
        return http.exchange(
                new Connections.Request("PUT", "storage host " + signed.getHost(), signed, headers, body), reading);
    }

    private <T> Reply<T> send(
            String method,
            URI uri,
            String path,
            Map<String, String> given,
            @Nullable Upload body,
            Connections.Reading<T> reading)
            throws IOException, InterruptedException {
        Map<String, String> headers = new HashMap<>(given);
        if (key.isFor(uri)) {
            headers.put("Authorization", key.authorization());
        }
        return http.exchange(new Connections.Request(method, path, uri, headers, body), answer -> {
            if (answer.status() / 100 != 2) {
                String error = new String(whole(answer, ERROR_BYTES_MAX), StandardCharsets.UTF_8);
                return new Reply<>(answer, null, error);
            }
            return new Reply<>(answer, reading.of(answer), "");
        });
    }

    private static byte[] whole(Answer answer, int bytesMax) throws IOException {
        try (InputStream body = answer.body(bytesMax)) {
            return body.readAllBytes();
        }
    }

    private DeliveryException refusal(String path, Reply<?> told) {
        String message = "%s: %d %s".formatted(path, told.answer().status(), message(told.error()));
        return http.refusal(message.strip(), told.answer());
    }

    /** Returns the server's message; HTML from a proxy before it is left out. */
    private String message(String body) {
        try {
            String text =
                    key.without(Metadata.JSON.readTree(body).path("message").asString(""));
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
        if (!key.isFor(to) && !isStorage(to)) {
            throw new DeliveryException(
                    Trouble.REDIRECTED,
                    "%s: redirect to host %s, which is not an allowed storage host"
                            .formatted(path, Answers.shown(String.valueOf(to.getHost()))));
        }
        return to;
    }

    /** Returns whether it is an allowed storage host over TLS; on loopback, also if the key is used without TLS. */
    private boolean isStorage(URI address) {
        boolean known = address.getHost() != null && storageHosts.contains(address.getHost());
        return known && ("https".equals(address.getScheme()) || key.allowsPlainHttp(address));
    }
}
