package dozo.source.dicomweb;

import dozo.source.delivery.Asking;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import dozo.source.http.Answer;
import dozo.source.http.Connections;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sends requests to one server and follows no redirects. Safe for use by several threads. */
final class Http implements AutoCloseable {

    private final Server server;
    private final Asking asking;

    /**
     * A request.
     *
     * @param what names the request in messages: nothing about a patient, so not the path, which may contain any text
     * @param body the body of a POST; null for a GET
     */
    record Question(
            String what,
            String path,
            String accept,
            @Nullable String body,
            long bytesMax) {}

    /** Reads an answer. */
    @FunctionalInterface
    interface Reading<T> {
        T of(Answer answer, InputStream body) throws IOException, InterruptedException;
    }

    Http(Server server, Asking asking) {
        this.server = server;
        this.asking = asking;
    }

    @Override
    public void close() {
        asking.close();
    }

    /**
     * Sends a request and retries until it succeeds, fails permanently, or has used up its tries.
     *
     * @throws DeliveryException if there is no good answer
     */
    <T> T ask(Question question, Reading<T> reading) throws IOException, InterruptedException {
        Map<String, String> headers = new HashMap<>();
        headers.put("Accept", question.accept());
        String authorization = server.authorization();
        if (authorization != null) {
            headers.put("Authorization", authorization);
        }
        URI uri = URI.create(server.base() + question.path());
        Connections.Request request = new Connections.Request(uri, headers, question.body());
        return asking.persist(() -> asking.once(question.what(), request, answer -> read(question, answer, reading)));
    }

    private <T> T read(Question question, Answer answer, Reading<T> reading) throws IOException, InterruptedException {
        int status = answer.status();
        String message = "%s: HTTP status %d".formatted(question.what(), status);
        if (status == 403) {
            // Orthanc has no permissions for single resources, so this concerns all requests.
            throw new DeliveryException(Trouble.REFUSED, message);
        }
        if (status != 200) {
            throw asking.refusal(message, answer);
        }
        try (InputStream body = answer.body(question.bytesMax())) {
            return reading.of(answer, body);
        }
    }
}
