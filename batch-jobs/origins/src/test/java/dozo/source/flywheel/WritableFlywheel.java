package dozo.source.flywheel;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * An emulated Flywheel that is empty and can be written, over plain HTTP on loopback; its storage has another host and
 * port. The official Python SDK fills and reads it (see RestoreToFlywheelIT). Strict: what the API does not describe is
 * refused. The shapes of requests are those of the models and paths in the SDK 23.0.0 ("SDK"); what a server does with
 * them is from kofalt/core 86f78e4, 2019 ("KC").
 */
public final class WritableFlywheel implements AutoCloseable {

    public static final String KEY = "emulated-key-9876543210";

    private static final JsonMapper JSON = new JsonMapper();

    private final HttpServer server;
    private final HttpServer storage;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch closed = new CountDownLatch(1);
    public final WrittenContent content;

    /** Whether uploads go to signed addresses of the storage. */
    public volatile boolean signs;

    /** How many parts a signed upload has. */
    public volatile int parts = 1;

    /** The storage's host in signed addresses. */
    public volatile String storageHost = "127.0.0.1";

    /** The writing requests so far: method and path. */
    public final List<String> writes = Collections.synchronizedList(new ArrayList<>());

    /** What happens to a writing request; asked with its method and path, before it is done. */
    public volatile Function<String, Fate> fate = request -> Fate.DONE;

    /** The Authorization and Content-Type headers that the storage got; "none" where there was none. */
    public final List<String> storageHeaders = Collections.synchronizedList(new ArrayList<>());

    /** What happens to a writing request. */
    public enum Fate {
        DONE,
        /** The connection ends before it is done. */
        LOST,
        /** It is done, and the connection ends without an answer. */
        UNANSWERED,
        /** It is not done, and has no answer until the emulator is closed. */
        HANGING,
        /** 429 with {@code Retry-After: 1}. */
        BUSY,
        /** 503. */
        BROKEN,
        /** 403. */
        DENIED,
        /** 200, without being done. */
        IGNORED
    }

    /** A request. */
    private record Request(HttpExchange exchange, String method, List<String> path, Map<String, String> query) {}

    /** @param era differs between two emulators of a test: ids of one do not occur in the other */
    public WritableFlywheel(int era) {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        content = new WrittenContent(era);
        server = serve(this::handle);
        storage = serve(this::store);
    }

    private HttpServer serve(com.sun.net.httpserver.HttpHandler handler) {
        try {
            HttpServer made = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
            made.setExecutor(threads);
            made.createContext("/", handler);
            made.start();
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String address() {
        return "http://localhost:" + server.getAddress().getPort();
    }

    public String key() {
        return "localhost:%d:__force_insecure:%s".formatted(server.getAddress().getPort(), KEY);
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        storage.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Request request = new Request(
                    exchange,
                    exchange.getRequestMethod(),
                    path(exchange.getRequestURI().getRawPath()),
                    query(exchange.getRequestURI().getRawQuery()));
            try {
                if (!("scitran-user " + KEY).equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
                    throw new WrittenContent.Refused(401, "Invalid API key");
                }
                if (request.method.equals("GET")) {
                    get(request);
                } else {
                    write(request);
                }
            } catch (WrittenContent.Refused refused) {
                answer(
                        exchange,
                        refused.status,
                        JsonNodeFactory.instance
                                .objectNode()
                                .put("message", refused.getMessage())
                                .put("status_code", refused.status));
            }
        }
    }

    private static List<String> path(String raw) {
        return Arrays.stream(raw.replaceFirst("^/api/", "").split("/", -1))
                .map(segment -> URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8))
                .toList();
    }

    private static Map<String, String> query(String raw) {
        Map<String, String> query = new HashMap<>();
        for (String one : raw == null ? new String[0] : raw.split("&")) {
            String[] parts = one.split("=", 2);
            query.put(parts[0], parts.length == 1 ? "" : URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        return query;
    }

    // --- reading ---

    private void get(Request request) throws IOException {
        List<String> path = request.path;
        ObjectNode told = JsonNodeFactory.instance.objectNode();
        switch (path.get(0)) {
            case "auth" -> {
                told.putObject("origin").put("type", "user").put("id", "writer@example.org");
                answer(request.exchange, 200, told.put("user_is_admin", false).put("is_device", false));
            }
            // SDK: both places are asked.
            case "config" -> answer(request.exchange, 200, told.put("signed_url", signs));
            case "version" -> answer(request.exchange, 200, told.put("release", "emulated"));
            case "users" -> answer(request.exchange, 200, told.put("_id", "writer@example.org"));
            case "containers" -> answer(request.exchange, 200, content.container(path.get(1)));
            case "files" -> answer(request.exchange, 200, content.fileById(path.get(1)));
            default -> below(request, path);
        }
    }

    private void below(Request request, List<String> path) throws IOException {
        String kind = WrittenContent.singular(path.get(0));
        if (path.size() == 1) {
            list(request, content.all(kind));
        } else if (path.size() == 2) {
            answer(request.exchange, 200, content.container(kind, path.get(1)));
        } else if (path.size() == 3) {
            list(request, content.within(kind, path.get(1), WrittenContent.singular(path.get(2))));
        } else if (path.size() == 4 && path.get(2).equals("files")) {
            byte[] bytes = content.bytes(path.get(1), path.get(3));
            request.exchange.getResponseHeaders().set("Content-Type", "application/octet-stream");
            request.exchange.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
            request.exchange.getResponseBody().write(bytes);
        } else if (path.size() == 5 && path.get(4).equals("info")) {
            answer(request.exchange, 200, content.file(path.get(1), path.get(3)));
        } else {
            throw new WrittenContent.Refused(404, "no such endpoint");
        }
    }

    private void list(Request request, List<ObjectNode> all) throws IOException {
        int limit = Integer.parseInt(request.query.getOrDefault("limit", "100"));
        String after = request.query.getOrDefault("after_id", "");
        String filter = request.query.getOrDefault("filter", "");
        ArrayNode page = JsonNodeFactory.instance.arrayNode();
        all.stream()
                .filter(each -> each.path("_id").asString().compareTo(after) > 0)
                .filter(each -> !filter.startsWith("label=")
                        || each.path("label").asString().equals(filter.substring(6)))
                .limit(limit)
                .forEach(page::add);
        answer(request.exchange, 200, page);
    }

    // --- writing ---

    private void write(Request request) throws IOException {
        String asked = request.method + " "
                + request.exchange.getRequestURI().getRawPath().replaceFirst("^/api", "");
        byte[] body = request.exchange.getRequestBody().readAllBytes();
        writes.add(asked);
        switch (fate.apply(asked)) {
            case LOST -> {}
            case HANGING -> untilClosed();
            case UNANSWERED -> {
                var _ = done(request, body);
            }
            case BUSY -> {
                request.exchange.getResponseHeaders().set("Retry-After", "1");
                throw new WrittenContent.Refused(429, "too many requests");
            }
            case BROKEN -> throw new WrittenContent.Refused(503, "as planned");
            case DENIED -> throw new WrittenContent.Refused(403, "user does not have permission");
            case IGNORED ->
                answer(
                        request.exchange,
                        200,
                        JsonNodeFactory.instance.objectNode().put("_id", "0123456789abcdef01234567"));
            case DONE -> answer(request.exchange, 200, done(request, body));
        }
    }

    private JsonNode done(Request request, byte[] body) {
        List<String> path = request.path;
        String last = path.getLast();
        String type = String.valueOf(request.exchange.getRequestHeaders().getFirst("Content-Type"));
        if (path.size() == 3 && last.equals("files") && request.method.equals("POST")) {
            return upload(path, request.query, type, body);
        }
        if (!type.startsWith("application/json")) {
            throw new WrittenContent.Refused(415, "expected JSON");
        }
        JsonNode json = JSON.readTree(body);
        return switch (request.method + " " + path.size()) {
            case "POST 1" -> content.create(WrittenContent.singular(path.get(0)), json);
            case "PUT 2" -> content.change(WrittenContent.singular(path.get(0)), path.get(1), json);
            case "POST 3" ->
                switch (last) {
                    case "analyses" -> content.analysis(WrittenContent.singular(path.get(0)), path.get(1), json);
                    case "tags" -> content.tag(path.get(1), json);
                    case "notes" -> content.note(path.get(1), json);
                    default -> throw new WrittenContent.Refused(404, "no such endpoint");
                };
            case "PATCH 3" ->
                switch (path.get(0) + "/" + last) {
                    case "files/tags" -> content.fileTags(path.get(1), json);
                    case "files/info" -> throw new WrittenContent.Refused(404, "not emulated");
                    default -> content.info(content.kept(path.get(1)), json);
                };
            case "PUT 4" -> content.changeFile(path.get(1), path.get(3), json);
            case "PATCH 5" ->
                last.equals("info")
                        ? content.info(content.keptFile(path.get(1), path.get(3)), json)
                        : content.classification(content.keptFile(path.get(1), path.get(3)), json);
            default -> throw new WrittenContent.Refused(405, "no such endpoint");
        };
    }

    /** SDK: by multipart, or by a ticket with signed addresses, which is closed by the same path. */
    private JsonNode upload(List<String> path, Map<String, String> query, String type, byte[] body) {
        String container = path.get(1);
        content.kept(container);
        String ticket = query.get("ticket");
        if (ticket == null) {
            return Multipart.store(content, container, type, body);
        }
        if (!ticket.isEmpty()) {
            return content.closeTicket(ticket, container, body.length == 0 ? null : JSON.readTree(body));
        }
        JsonNode wanted = JSON.readTree(body);
        // KC answers nothing where its storage cannot sign.
        if (!signs) {
            return JsonNodeFactory.instance.objectNode();
        }
        JsonNode metadata = wanted.path("metadata");
        if (metadata.isArray() != path.get(0).equals("analyses")) {
            throw new WrittenContent.Refused(400, "of analyses, the metadata are a list");
        }
        return content.openTicket(
                container,
                metadata.isArray() ? metadata.get(0) : metadata,
                wanted.path("filenames"),
                parts,
                "http://%s:%d/bucket"
                        .formatted(storageHost, storage.getAddress().getPort()));
    }

    /** A storage refuses headers that were not signed. */
    private void store(HttpExchange exchange) throws IOException {
        try (exchange) {
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            String type = exchange.getRequestHeaders().getFirst("Content-Type");
            storageHeaders.add(
                    "%s %s".formatted(authorization == null ? "none" : authorization, type == null ? "none" : type));
            byte[] bytes = exchange.getRequestBody().readAllBytes();
            String asked = "PUT /bucket";
            writes.add(asked);
            Fate now = fate.apply(asked);
            if (now == Fate.LOST) {
                return;
            }
            boolean signed = "signed".equals(exchange.getRequestHeaders().getFirst("x-emulated"));
            if (now != Fate.DONE || authorization != null || type != null || !signed) {
                exchange.sendResponseHeaders(403, -1);
                return;
            }
            Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
            String tag = content.storePart(query.get("uploadId"), Integer.parseInt(query.get("partNumber")), bytes);
            exchange.getResponseHeaders().set("ETag", "\"" + tag + "\"");
            exchange.sendResponseHeaders(200, -1);
        }
    }

    private void untilClosed() {
        try {
            closed.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void answer(HttpExchange exchange, int status, JsonNode body) throws IOException {
        byte[] bytes = JSON.writeValueAsBytes(body);
        exchange.getResponseHeaders().set("Content-Type", "application/json; charset=utf-8");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    /** Reads multipart/form-data with the parts {@code file} and {@code metadata}. */
    private static final class Multipart {

        private Multipart() {}

        static JsonNode store(WrittenContent content, String container, String type, byte[] body) {
            if (!type.startsWith("multipart/form-data; boundary=")) {
                throw new WrittenContent.Refused(400, "expected multipart/form-data");
            }
            String text = new String(body, StandardCharsets.ISO_8859_1);
            String boundary = "--" + type.substring(type.indexOf('=') + 1).replace("\"", "");
            if (!text.endsWith(boundary + "--\r\n") && !text.endsWith(boundary + "--")) {
                throw new WrittenContent.Refused(400, "the body is cut");
            }
            JsonNode metadata = JsonNodeFactory.instance.objectNode();
            byte[] bytes = null;
            String name = null;
            for (int at = text.indexOf(boundary); ; ) {
                int head = at + boundary.length() + 2;
                int next = text.indexOf("\r\n" + boundary, head - 2);
                if (next < 0) {
                    break;
                }
                int start = text.indexOf("\r\n\r\n", head) + 4;
                String headers = new String(
                        text.substring(head, start).getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
                String part = text.substring(start, Math.max(start, next));
                if (headers.contains("name=\"metadata\"")) {
                    metadata = JSON.readTree(
                            new String(part.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8));
                } else if (headers.contains("name=\"file\"")) {
                    bytes = part.getBytes(StandardCharsets.ISO_8859_1);
                    int from = headers.indexOf("filename=\"") + 10;
                    name = headers.substring(from, headers.indexOf('"', from)).replace("%22", "\"");
                }
                at = next + 2;
            }
            if (bytes == null) {
                throw new WrittenContent.Refused(400, "expected a part \"file\"");
            }
            return content.store(container, name, metadata, bytes, true);
        }
    }
}
