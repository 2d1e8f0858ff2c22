package dozo.source.dicomweb;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Requests to one server. Every answer has a limit in size and time, no redirect is followed, and what may pass is tried again a few
 * times. Safe for several threads.
 */
final class Http implements AutoCloseable {

    private final Server server;
    private final Limits limits;
    private final Pause pause;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("dicomweb-watch").factory());
    private final HttpClient http;

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
        T of(HttpHeaders headers, InputStream body) throws IOException, InterruptedException;
    }

    Http(Server server, Limits limits, Pause pause) {
        this.server = server;
        this.limits = limits;
        this.pause = pause;
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(limits.connect())
                .executor(threads)
                .build();
    }

    @Override
    public void close() {
        http.shutdownNow();
        watch.shutdownNow();
        threads.shutdownNow();
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
        HttpResponse<InputStream> response = send(question);
        try (Body body = new Body(question, response.body(), limits.stall(), watch)) {
            if (response.statusCode() != 200) {
                throw refusal(question, response.statusCode());
            }
            return reading.of(response.headers(), body);
        }
    }

    private HttpResponse<InputStream> send(Question question) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.base() + question.path()))
                .timeout(limits.answer())
                .header("Accept", question.accept());
        String authorization = server.authorization();
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        String posted = question.body();
        if (posted != null) {
            request.POST(HttpRequest.BodyPublishers.ofString(posted));
        }
        CompletableFuture<HttpResponse<InputStream>> response =
                http.sendAsync(request.build(), BodyHandlers.ofInputStream());
        try {
            return response.get();
        } catch (ExecutionException e) {
            throw failure(question, e.getCause() == null ? e : e.getCause());
        } catch (InterruptedException e) {
            response.cancel(true);
            throw e;
        }
    }

    /** NB: the cause is told by its kind alone: its text may have the request's path in it. */
    private static DicomwebException failure(Question question, Throwable cause) {
        String kind = cause.getClass().getSimpleName();
        if (cause instanceof HttpConnectTimeoutException
                || cause instanceof ConnectException
                || cause.getCause() instanceof UnresolvedAddressException
                || cause instanceof SSLException) {
            return new DicomwebException(Trouble.UNREACHABLE, "no connection: " + kind);
        }
        if (cause instanceof HttpTimeoutException) {
            return new DicomwebException(Trouble.STALLED, question.what() + ": no answer in time");
        }
        return new DicomwebException(Trouble.DROPPED, "%s: the connection ended: %s".formatted(question.what(), kind));
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
