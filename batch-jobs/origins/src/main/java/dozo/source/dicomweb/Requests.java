package dozo.source.dicomweb;

import dozo.source.delivery.Answer;
import dozo.source.delivery.Connections;
import dozo.source.delivery.DeliveryException;
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
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Requests to a DICOM server, with its login. Safe for use by several threads. */
final class Requests implements AutoCloseable {

    static final String JSON_TYPE = "application/json";
    static final String DICOM_JSON = "application/dicom+json";

    /** Files as stored, in whatever transfer syntax. */
    static final String PARTS = "multipart/related; type=\"application/dicom\"; transfer-syntax=*";

    /** A DICOM Part 10 instance with explicit lengths is not longer, except for encapsulated pixels. */
    static final long INSTANCE_BYTES_MAX = 1L << 36;

    /** The limit of answers read as a whole: a study or series with the ids of its content. */
    static final int JSON_BYTES_MAX = 32 << 20;

    static final JsonMapper JSON = new JsonMapper();

    private final Server server;
    private final Connections http;

    /** Reads the body of a good answer. */
    @FunctionalInterface
    interface Reading<T> {
        T of(Answer answer, InputStream body) throws IOException, InterruptedException;
    }

    Requests(Server server, Limits limits, Pause pause, InstantSource clock) {
        this.server = server;
        this.http = new Connections(limits, pause, clock);
    }

    @Override
    public void close() {
        http.close();
    }

    /**
     * Sends a request, follows no redirects, and retries until it succeeds, fails permanently, or has used up its
     * tries.
     *
     * @param what names the request in messages: nothing about a patient, so not the path, which may contain any text
     * @param posted the body of a POST; null for a GET
     */
    <T> T ask(String what, String path, String accept, @Nullable Upload posted, long bytesMax, Reading<T> reading)
            throws IOException, InterruptedException {
        return persist(() -> once(what, path, accept, posted, answer -> {
            if (answer.status() != 200) {
                throw refusal(what, answer);
            }
            try (InputStream body = answer.body(bytesMax)) {
                return reading.of(answer, body);
            }
        }));
    }

    <T> T persist(Connections.Attempt<T> attempt) throws IOException, InterruptedException {
        return http.persist(attempt);
    }

    /** Sends a request once; the answer may have any status. */
    <T> T once(String what, String path, String accept, @Nullable Upload posted, Connections.Reading<T> reading)
            throws IOException, InterruptedException {
        Map<String, String> headers = new HashMap<>();
        headers.put("Accept", accept);
        String authorization = server.authorization();
        if (authorization != null) {
            headers.put("Authorization", authorization);
        }
        return http.exchange(new Connections.Request(what, URI.create(server.base() + path), headers, posted), reading);
    }

    /** Returns the failure of an answer whose status is not a good one. */
    DeliveryException refusal(String what, Answer answer) {
        String message = "%s: HTTP status %d".formatted(what, answer.status());
        // Orthanc has no permissions for single resources, so this concerns all requests.
        return answer.status() == 403 ? new DeliveryException(Trouble.REFUSED, message) : http.refusal(message, answer);
    }

    JsonNode tree(String what, String path, @Nullable String posted) throws IOException, InterruptedException {
        Upload body = posted == null ? null : Upload.of(posted);
        return ask(what, path, JSON_TYPE, body, JSON_BYTES_MAX, (answer, read) -> {
            try {
                return JSON.readTree(read);
            } catch (JacksonException e) {
                throw unparsed(what, e);
            }
        });
    }

    String text(String what, String path, long bytesMax) throws IOException, InterruptedException {
        byte[] text = ask(what, path, "*/*", null, bytesMax, (answer, body) -> body.readAllBytes());
        return new String(text, StandardCharsets.US_ASCII).strip();
    }

    /** NB: without the cause, whose message quotes the answer. */
    static IOException unparsed(String what, JacksonException e) {
        return e.getCause() instanceof DeliveryException failure
                ? failure
                : new DeliveryException(Trouble.UNPARSED, what + ": the answer is not JSON");
    }
}
