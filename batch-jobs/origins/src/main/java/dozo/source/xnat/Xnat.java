package dozo.source.xnat;

import dozo.file.FilePath;
import dozo.source.delivery.Answer;
import dozo.source.delivery.Connections;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.ExactJson;
import dozo.source.delivery.Limits;
import dozo.source.delivery.Pause;
import dozo.source.delivery.Server;
import dozo.source.delivery.Trouble;
import dozo.source.delivery.Upload;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * An XNAT's REST API. Every answer has a limit in size and time, and temporary failures are retried a few times. It logs in
 * once and sends both the session's cookie and the login, so that an expired session never makes it a guest, who sees less.
 * A page instead of an answer is tried once more with a new session. Safe for use by several threads.
 */
public final class Xnat implements AutoCloseable {

    /** Troubles that prevent every other request too. */
    static final Set<Trouble> ENDS_ALL = Set.of(Trouble.KEY_REFUSED, Trouble.SPOOL);

    /** The limit of a file; XNAT may not state its size. */
    static final long FILE_BYTES_MAX = 1L << 44;

    /** The limit of a list, for example of a session's files. */
    private static final int JSON_BYTES_MAX = 64 << 20;

    private static final int TEXT_BYTES_MAX = 64 << 10;
    private static final int NO_CONTENT = 204;
    private static final Pattern COOKIE = Pattern.compile("[A-Za-z0-9._!~-]{1,256}");
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,127}");

    private final Server server;
    private final Connections http;
    private volatile @Nullable String session;

    /** @throws IllegalArgumentException if the server has no login */
    public Xnat(Server server, Limits limits, Pause pause, InstantSource clock) {
        if (server.authorization() == null) {
            throw new IllegalArgumentException("XNAT requires a login");
        }
        this.server = server;
        this.http = new Connections(limits, pause, clock);
    }

    /** Ends the session: XNAT limits how many a user may have. */
    @Override
    public void close() {
        try {
            logOut(session);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        http.close();
    }

    private void logOut(@Nullable String opened) throws InterruptedException {
        if (opened == null) {
            return;
        }
        try {
            int _ = http.exchange(request("DELETE", "logout", "/data/JSESSION", opened, null), Answer::status);
        } catch (IOException e) {
            // XNAT ends it after some minutes.
        }
    }

    /** Returns whether XNAT answers at all. Sends one request, without a retry. */
    public boolean answers() throws InterruptedException {
        try {
            ask();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Logs in. Sends one request, without a retry.
     *
     * @throws DeliveryException if there is no good answer
     */
    public void ask() throws IOException, InterruptedException {
        var _ = session(session);
    }

    /** @param expired a session that is not accepted any more; null if none is known */
    private synchronized String session(@Nullable String expired) throws IOException, InterruptedException {
        String known = session;
        if (known != null && !known.equals(expired)) {
            return known;
        }
        logOut(known);
        session = null;
        String made = http.exchange(request("GET", "login", "/data/JSESSION", null, null), answer -> {
            if (answer.status() == 401) {
                throw new DeliveryException(Trouble.KEY_REFUSED, "XNAT rejects the login");
            }
            if (answer.status() != 200) {
                throw http.refusal("login: HTTP status " + answer.status(), answer);
            }
            return text(answer).strip();
        });
        if (!COOKIE.matcher(made).matches()) {
            throw new DeliveryException(
                    Trouble.UNPARSED, "login: expected the id of a session; check the address and proxies before XNAT");
        }
        session = made;
        return made;
    }

    /**
     * Returns the JSON at a path.
     *
     * @param what names the request in messages; nothing about a patient
     * @throws DeliveryException if it cannot be read, after all tries
     */
    public JsonNode json(String what, String path) throws IOException, InterruptedException {
        return http.persist(() -> exchange("GET", what, path, null, false, answer -> {
            try (InputStream body = answer.body(JSON_BYTES_MAX)) {
                return ExactJson.MAPPER.readTree(body.readAllBytes());
            } catch (JacksonException e) {
                throw new DeliveryException(Trouble.UNPARSED, what + ": the answer is not JSON");
            }
        }));
    }

    /** Returns the JSON at a path; empty if XNAT does not have it. */
    public Optional<JsonNode> find(String what, String path) throws IOException, InterruptedException {
        try {
            return Optional.of(json(what, path));
        } catch (DeliveryException e) {
            if (e.trouble() == Trouble.GONE) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Returns the rows of a list. */
    public List<JsonNode> rows(String what, String path) throws IOException, InterruptedException {
        JsonNode array = json(what, path).path("ResultSet").path("Result");
        if (!array.isArray()) {
            throw new DeliveryException(Trouble.UNPARSED, what + ": no list in the answer");
        }
        List<JsonNode> rows = new ArrayList<>(array.size());
        array.forEach(rows::add);
        return rows;
    }

    /**
     * Returns the first item of a document.
     *
     * @throws DeliveryException if there is none
     */
    public static JsonNode item(String what, JsonNode document) throws DeliveryException {
        JsonNode item = document.path("items").path(0);
        if (!item.path("data_fields").isObject()) {
            throw new DeliveryException(Trouble.UNPARSED, what + ": no item in the answer");
        }
        return item;
    }

    /**
     * Reads a file, with retries.
     *
     * @param isProven whether size or digest say if a page is the file itself
     */
    <T> T file(String what, String path, boolean isProven, Connections.Reading<T> reading)
            throws IOException, InterruptedException {
        return http.persist(() -> exchange("GET", what, path, null, isProven, reading));
    }

    /**
     * Sends one writing request, without a retry.
     *
     * @return its answer if that is JSON, else a missing node. NB: files that XNAT did not replace are an answer with status
     * 200, and a user who may not write in a project gets 200, too
     */
    JsonNode put(String what, String path, Upload body) throws IOException, InterruptedException {
        return exchange("PUT", what, path, body, true, answer -> {
            String text = text(answer).strip();
            if (text.startsWith("<")) {
                throw new DeliveryException(Trouble.UNPARSED, what + ": XNAT returned a page");
            }
            return text.startsWith("{") ? ExactJson.MAPPER.readTree(text) : MissingNode.getInstance();
        });
    }

    <T> T persist(Connections.Attempt<T> attempt) throws IOException, InterruptedException {
        return http.persist(attempt);
    }

    private <T> T exchange(
            String method,
            String what,
            String path,
            @Nullable Upload body,
            boolean mayBePage,
            Connections.Reading<T> reading)
            throws IOException, InterruptedException {
        String first = session(null);
        Optional<T> read = sendFirst(request(method, what, path, first, body), reading);
        return read.isPresent()
                ? read.get()
                : send(request(method, what, path, session(first), body), mayBePage, true, reading)
                        .orElseThrow();
    }

    /** NB: the answer to a writing request has the type of a page, whatever it is. */
    private <T> Optional<T> sendFirst(Connections.Request request, Connections.Reading<T> reading)
            throws IOException, InterruptedException {
        boolean writes = request.method().equals("PUT");
        try {
            return send(request, writes, false, reading);
        } catch (DeliveryException e) {
            if (writes && e.trouble() == Trouble.UNPARSED) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Returns what was read; empty if the session seems to have expired, unless it is new. */
    private <T> Optional<T> send(
            Connections.Request request, boolean mayBePage, boolean isNew, Connections.Reading<T> reading)
            throws IOException, InterruptedException {
        return http.exchange(request, answer -> {
            boolean isPage = !mayBePage
                    && answer.header("Content-Type")
                            .map(type -> type.toLowerCase(Locale.ROOT).startsWith("text/html"))
                            .orElse(false);
            int status = answer.status();
            if (!isNew && (status == 401 || status / 100 == 3 || (status == 200 && isPage))) {
                return Optional.empty();
            }
            if (status == NO_CONTENT) {
                throw new DeliveryException(Trouble.GONE, request.what() + ": HTTP status 204, no content");
            }
            if (status / 100 != 2) {
                throw http.refusal("%s: HTTP status %d".formatted(request.what(), status), answer);
            }
            if (isPage) {
                throw new DeliveryException(
                        Trouble.UNPARSED, request.what() + ": XNAT returned a page (HTML), also after a new login");
            }
            return Optional.of(reading.of(answer));
        });
    }

    private Connections.Request request(
            String method, String what, String path, @Nullable String cookie, @Nullable Upload body) {
        Map<String, String> headers = new HashMap<>();
        headers.put("Authorization", String.valueOf(server.authorization()));
        if (cookie != null) {
            headers.put("Cookie", "JSESSIONID=" + cookie);
        }
        return new Connections.Request(method, what, URI.create(server.base() + path), headers, body);
    }

    private static String text(Answer answer) throws IOException {
        try (InputStream body = answer.body(TEXT_BYTES_MAX)) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /** Returns a path below {@code /data}, made of these segments, whatever they contain. */
    public static String path(String... segments) {
        StringBuilder path = new StringBuilder("/data");
        for (String segment : segments) {
            path.append('/').append(Connections.segment(segment));
        }
        return path.toString();
    }

    /** Returns the text as it is shown to people. */
    static String shown(String text) {
        return FilePath.render(text.getBytes(StandardCharsets.UTF_8));
    }

    static boolean isId(String text) {
        return ID.matcher(text).matches();
    }
}
