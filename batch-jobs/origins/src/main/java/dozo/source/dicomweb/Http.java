package dozo.source.dicomweb;

import dozo.source.http.Answer;
import dozo.source.http.Connections;
import dozo.source.http.HttpFailure;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Requests to one server. Every answer has a limit in size and time, no redirect is followed, and what may pass is tried again a few
 * times. Safe for several threads.
 */
final class Http implements AutoCloseable {

    private final Server server;
    private final Limits limits;
    private final Pause pause;
    private final Connections http;

    /**
     * What is asked.
     *
     * @param what for messages: nothing of a patient, so not the path, which may have any text in it
     * @param body what is posted; null: it is a GET
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

    Http(Server server, Limits limits, Pause pause) {
        this.server = server;
        this.limits = limits;
        this.pause = pause;
        this.http = new Connections(limits.connect(), limits.answer(), limits.stall());
    }

    @Override
    public void close() {
        http.close();
    }

    /**
     * Asks until there is a good answer, or a reason that does not pass, or often enough.
     *
     * @throws DicomwebException when there is no good answer
     */
    <T> T ask(Question question, Reading<T> reading) throws IOException, InterruptedException {
        for (int tried = 1; ; tried++) {
            try {
                return once(question, reading);
            } catch (DicomwebException e) {
                if (!e.trouble().mayPass() || tried >= limits.tries()) {
                    throw e;
                }
            }
            pause.await(limits.firstWait().multipliedBy(1L << Math.min(tried - 1, 6)));
        }
    }

    private <T> T once(Question question, Reading<T> reading) throws IOException, InterruptedException {
        Map<String, String> headers = new HashMap<>();
        headers.put("Accept", question.accept());
        String authorization = server.authorization();
        if (authorization != null) {
            headers.put("Authorization", authorization);
        }
        URI uri = URI.create(server.base() + question.path());
        try {
            return http.exchange(
                    new Connections.Request(uri, headers, question.body()), answer -> read(question, answer, reading));
        } catch (HttpFailure e) {
            throw new DicomwebException(trouble(e.kind()), question.what() + ": " + e.getMessage());
        }
    }

    private static <T> T read(Question question, Answer answer, Reading<T> reading)
            throws IOException, InterruptedException {
        if (answer.status() != 200) {
            throw refusal(question, answer.status());
        }
        try (InputStream body = answer.body(question.bytesMax())) {
            return reading.of(answer, body);
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

    private static DicomwebException refusal(Question question, int status) {
        Trouble trouble = switch (status) {
            case 401, 403 -> Trouble.REFUSED;
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
        return new DicomwebException(trouble, "%s: answered with %d".formatted(question.what(), status));
    }
}
