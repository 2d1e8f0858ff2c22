package dozo.source.dicomweb;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/** A proxy before an Orthanc that injects planned faults, and can hold everything up at a chosen step. */
public final class FaultyProxy implements AutoCloseable {

    static final Pattern WADO = Pattern.compile("/dicom-web/studies/[0-9.]+/series/[0-9.]+/instances/[0-9.]+");

    private static final int STEP_BYTES = 8 << 10;

    private final String behind;
    private final HttpServer server;
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<Planned> plan = new CopyOnWriteArrayList<>();
    private final List<String> paths = new CopyOnWriteArrayList<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final List<Storing> storings = new CopyOnWriteArrayList<>();

    /** Steps until everything is held up. */
    private final Semaphore steps = new Semaphore(Integer.MAX_VALUE);

    private final AtomicInteger cuts = new AtomicInteger();

    /** The faults in an answer. */
    public enum Fault {
        /** 500. */
        BROKEN,
        /** 429. */
        BUSY,
        /** 401. */
        REFUSED,
        /** 404. */
        GONE,
        /** 302 to another host. */
        REDIRECTED,
        /** 200 with an HTML page that names a patient. */
        PAGE,
        /** The connection ends in the middle of the body. */
        DROPPED,
        /** The body stalls in the middle, until the end of the test. */
        STALLED,
        /** The second half of the body arrives at ten bytes per second. */
        DRIPPING,
        /** No answer begins until the end of the test. */
        SILENT,
        /** One bit in the middle of the body is flipped. */
        FLIPPED
    }

    /** A request to store instances: what was passed on of its body, and whether its answer was. */
    public static final class Storing {

        private final ByteArrayOutputStream body = new ByteArrayOutputStream();
        private final int begun;
        private volatile boolean answered;

        private Storing(int begun) {
            this.begun = begun;
        }

        /** Returns the body as text of which each character is a byte. */
        public String text() {
            return body.toString(StandardCharsets.ISO_8859_1);
        }

        public boolean isAnswered() {
            return answered;
        }
    }

    /** An action before the request, instead of a fault. */
    @FunctionalInterface
    public interface Action {
        void run() throws Exception;
    }

    private record Planned(Pattern path, Action action, Fault fault, AtomicInteger after, AtomicInteger left) {}

    public FaultyProxy(String behind) throws IOException {
        this.behind = behind;
        server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 64);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::handle);
        server.start();
    }

    public String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Returns the paths of all requests since the last call. */
    List<String> takePaths() {
        List<String> taken = List.copyOf(paths);
        paths.clear();
        return taken;
    }

    /** Returns how many requests for such paths arrived since then. */
    public long asked(Pattern path) {
        return paths.stream().filter(path.asMatchPredicate()).count();
    }

    /** Plans a fault for {@code times} requests for such paths, after {@code after} good ones. */
    public void plan(Pattern path, int after, int times, Fault fault) {
        plan.add(new Planned(path, () -> {}, fault, new AtomicInteger(after), new AtomicInteger(times)));
    }

    /** Plans an action that runs once, before such a request is passed on. */
    public void plan(Pattern path, int after, Action action) {
        plan.add(new Planned(path, action, null, new AtomicInteger(after), new AtomicInteger(1)));
    }

    /**
     * Holds everything up after so many steps. A request is a step; of one that stores instances, each 8 KiB of the
     * body and the answer are too.
     */
    public void holdAfter(int count) {
        steps.drainPermits();
        steps.release(count);
    }

    public boolean holds() {
        return steps.hasQueuedThreads();
    }

    /** Lets everything go on. */
    public void letGo() {
        steps.drainPermits();
        steps.release(Integer.MAX_VALUE);
    }

    /** Ends all requests that are under way where they are. */
    public void cut() {
        cuts.incrementAndGet();
        letGo();
    }

    private void step(int begun) throws IOException {
        steps.acquireUninterruptibly();
        if (cuts.get() != begun) {
            throw new IOException("cut");
        }
    }

    /** Returns all requests to store instances. */
    public List<Storing> storings() {
        return storings;
    }

    /** Removes all planned faults. */
    public void heal() {
        plan.clear();
    }

    /** Returns whether everything planned has occurred. */
    boolean isUsedUp() {
        return plan.stream().allMatch(planned -> planned.left().get() <= 0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getRawPath();
        paths.add(path);
        try (exchange) {
            int begun = cuts.get();
            step(begun);
            for (Planned planned : plan) {
                if (planned.path().matcher(path).matches()
                        && planned.after().getAndDecrement() <= 0
                        && planned.left().getAndDecrement() > 0) {
                    planned.action().run();
                    answer(exchange, planned.fault());
                    return;
                }
            }
            answer(exchange, null);
        } catch (IOException gone) {
            // The client or the server behind has gone: the connection ends.
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void answer(HttpExchange exchange, Fault fault) throws IOException, InterruptedException {
        switch (fault) {
            case null -> pass(exchange, null);
            case BROKEN -> exchange.sendResponseHeaders(500, -1);
            case BUSY -> exchange.sendResponseHeaders(429, -1);
            case REFUSED -> exchange.sendResponseHeaders(401, -1);
            case GONE -> exchange.sendResponseHeaders(404, -1);
            case SILENT -> closed.await();
            case REDIRECTED -> {
                exchange.getResponseHeaders().set("Location", "http://elsewhere.example/");
                exchange.sendResponseHeaders(302, -1);
            }
            case PAGE -> {
                byte[] page = "<html>Patient: Yamada Taro</html>".getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, page.length);
                exchange.getResponseBody().write(page);
            }
            case DROPPED, STALLED, DRIPPING, FLIPPED -> pass(exchange, fault);
        }
    }

    private void pass(HttpExchange exchange, Fault fault) throws IOException, InterruptedException {
        boolean stores = exchange.getRequestMethod().equals("POST")
                && exchange.getRequestURI().getPath().endsWith("/studies");
        Storing storing = new Storing(cuts.get());
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(behind + exchange.getRequestURI()))
                .method(
                        exchange.getRequestMethod(),
                        stores
                                ? passing(exchange, storing)
                                : BodyPublishers.ofByteArray(
                                        exchange.getRequestBody().readAllBytes()));
        String accept = exchange.getRequestHeaders().getFirst("Accept");
        request.header("Accept", accept);
        String sentType = exchange.getRequestHeaders().getFirst("Content-Type");
        if (sentType != null) {
            request.header("Content-Type", sentType);
        }
        HttpResponse<byte[]> answer = behind(request.build(), stores);
        if (stores) {
            step(storing.begun);
        }
        answer.headers()
                .firstValue("Content-Type")
                .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
        byte[] body = answer.body();
        int middle = body.length / 2;
        if (fault == Fault.FLIPPED) {
            body[middle] ^= 1;
        }
        exchange.sendResponseHeaders(answer.statusCode(), body.length == 0 ? -1 : body.length);
        OutputStream out = exchange.getResponseBody();
        if (fault == Fault.DROPPED || fault == Fault.STALLED || fault == Fault.DRIPPING) {
            out.write(body, 0, middle);
            out.flush();
            if (fault == Fault.STALLED) {
                closed.await();
            }
            for (int i = middle; fault == Fault.DRIPPING && !closed.await(100, TimeUnit.MILLISECONDS); i++) {
                out.write(body[i]);
                out.flush();
            }
            return;
        }
        out.write(body);
        storing.answered = true;
    }

    /** Asks once more if a connection was kept from before the server behind was killed; what it stores is sent once. */
    private HttpResponse<byte[]> behind(HttpRequest request, boolean stores) throws IOException, InterruptedException {
        try {
            return http.send(request, BodyHandlers.ofByteArray());
        } catch (IOException e) {
            if (stores) {
                throw e;
            }
            return http.send(request, BodyHandlers.ofByteArray());
        }
    }

    /** Passes a body on while it arrives: an Orthanc stores its first instances before the last have arrived. */
    private BodyPublisher passing(HttpExchange exchange, Storing storing) {
        storings.add(storing);
        InputStream body = new FilterInputStream(exchange.getRequestBody()) {
            @Override
            public int read(byte[] into, int from, int count) throws IOException {
                step(storing.begun);
                int read = super.read(into, from, Math.min(count, STEP_BYTES));
                storing.body.write(into, from, Math.max(0, read));
                return read;
            }
        };
        long length = Long.parseLong(exchange.getRequestHeaders().getFirst("Content-Length"));
        return BodyPublishers.fromPublisher(BodyPublishers.ofInputStream(() -> body), length);
    }

    @Override
    public void close() {
        letGo();
        closed.countDown();
        server.stop(0);
        http.shutdownNow();
    }
}
