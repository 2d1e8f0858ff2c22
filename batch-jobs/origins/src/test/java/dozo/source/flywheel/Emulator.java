package dozo.source.flywheel;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dozo.source.flywheel.Faults.Fault;
import dozo.source.flywheel.Hierarchy.Kind;
import dozo.source.flywheel.Hierarchy.Place;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An emulated Flywheel for readers, over plain HTTP on loopback; the official Python SDK accepts it (see SdkIT). Its
 * content is a {@link Hierarchy}; its faults are planned in {@link Faults}.
 */
public final class Emulator implements AutoCloseable {

    public static final String KEY = "emulated-key-0123456789";

    static final String BUSY_UNTIL = "Fri, 20 Nov 2026 22:00:07 GMT";

    private static final int LIMIT_DEFAULT = 100;
    private static final int SLICE_BYTES = 1 << 16;
    private static final int RETRY_AFTER_SECONDS = 2;
    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d*)");

    /** Writes ASCII, as Python does by default: any text can be sent so, unpaired surrogates too. */
    private static final JsonMapper JSON =
            new JsonMapper(JsonFactory.builder().highestNonEscapedChar(127).build());

    static {
        // Otherwise each answer on a kept-alive connection waits 40 ms for the client's acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
    }

    private final Hierarchy hierarchy;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicLong requests = new AtomicLong();
    private final Map<String, String> tickets = new ConcurrentHashMap<>();
    public final Faults faults = new Faults();
    /** The address on another host to which downloads are redirected, with {@link Fault#REDIRECTED}. */
    volatile String elsewhere = "http://localhost:9/elsewhere";

    /** The Authorization headers of all requests; "none" where there was none. */
    final List<String> authorizations = Collections.synchronizedList(new ArrayList<>());

    /** The requested ranges, verbatim. */
    final List<String> ranges = Collections.synchronizedList(new ArrayList<>());

    /** Whether entries of files leave out {@code info}, as the lists of scitran/core do; it can be requested for each. */
    volatile boolean leavesOutInfo;

    private final Map<String, AtomicLong> downloads = new ConcurrentHashMap<>();

    private record Request(
            HttpExchange exchange, List<String> path, Map<String, String> query, Optional<Fault> fault) {}

    /** Answered with the API's error body. */
    private static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final int status;

        Refused(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    public Emulator(Hierarchy hierarchy) {
        this.hierarchy = hierarchy;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    public int port() {
        return server.getAddress().getPort();
    }

    /** Returns the key as copied from a user's profile, but for plain HTTP. */
    public String key() {
        return "localhost:%d:__force_insecure:%s".formatted(port(), KEY);
    }

    public Hierarchy hierarchy() {
        return hierarchy;
    }

    /** Returns how many requests arrived since the last call. */
    public long takeRequests() {
        return requests.getAndSet(0);
    }

    /** Returns how often a file's bytes were requested. */
    public long downloads(String file) {
        return downloads.getOrDefault(file, new AtomicLong()).get();
    }

    /** Returns the path of a file's download, as written in a request. */
    public String downloadPath(String file) {
        int index = hierarchy.index(file, Kind.FILE).orElseThrow();
        Place place = hierarchy.place(index);
        Object name = hierarchy.fileEntry(index).get("name");
        return "/%s/%s/files/%s"
                .formatted(
                        place.kind().plural(),
                        Hierarchy.id(place.kind(), place.container()),
                        java.net.URLEncoder.encode(String.valueOf(name), StandardCharsets.UTF_8)
                                .replace("+", "%20"));
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        requests.incrementAndGet();
        try (exchange) {
            String raw = exchange.getRequestURI().getRawPath();
            Optional<Fault> fault = faults.due(raw);
            if (fault.isPresent() && failed(exchange, fault.get())) {
                return;
            }
            try {
                Request request = new Request(exchange, path(raw), query(exchange), fault);
                checkKey(request);
                answer(request);
            } catch (Refused refused) {
                error(exchange, refused.status, refused.getMessage());
            }
        }
    }

    /** Returns whether the fault was the whole answer. */
    private boolean failed(HttpExchange exchange, Fault fault) throws IOException {
        switch (fault) {
            case DENIED, KEY_REFUSED, GONE, BROKEN -> error(exchange, fault.status, "as planned: " + fault);
            case BUSY -> {
                exchange.getResponseHeaders().set("Retry-After", "" + RETRY_AFTER_SECONDS);
                error(exchange, fault.status, "as planned: " + fault);
            }
            case BUSY_UNTIL -> {
                exchange.getResponseHeaders().set("Retry-After", BUSY_UNTIL);
                error(exchange, fault.status, "as planned: " + fault);
            }
            case PROXY -> send(exchange, 502, "text/html", "<html>Bad Gateway</html>".getBytes(StandardCharsets.UTF_8));
            case GIBBERISH -> send(exchange, 200, "application/json", "[{".getBytes(StandardCharsets.UTF_8));
            case REDIRECTED -> {
                exchange.getResponseHeaders().set("Location", elsewhere);
                exchange.sendResponseHeaders(302, -1);
            }
            case DROPPED -> {}
            case TRUNCATED, FLIPPED, STALLED, WRONG_RANGE -> {
                return false;
            }
        }
        return true;
    }

    private static List<String> path(String raw) {
        if (!raw.startsWith("/api/")) {
            throw new Refused(404, "not below /api");
        }
        return Arrays.stream(raw.substring(5).split("/", -1))
                .map(segment -> URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8))
                .toList();
    }

    private static Map<String, String> query(HttpExchange exchange) {
        Map<String, String> query = new HashMap<>();
        String raw = exchange.getRequestURI().getRawQuery();
        for (String one : raw == null ? new String[0] : raw.split("&")) {
            int equals = one.indexOf('=');
            String name = equals < 0 ? one : one.substring(0, equals);
            String value = equals < 0 ? "" : URLDecoder.decode(one.substring(equals + 1), StandardCharsets.UTF_8);
            if (query.put(name, value) != null) {
                throw new Refused(422, "given twice: " + name);
            }
        }
        return query;
    }

    private void checkKey(Request request) {
        String given = request.exchange().getRequestHeaders().getFirst("Authorization");
        authorizations.add(given == null ? "none" : given);
        if (tickets.containsKey(request.query().getOrDefault("ticket", ""))) {
            return;
        }
        String demanded = (KEY.length() == 57 ? "Bearer " : "scitran-user ") + KEY;
        if (!demanded.equals(given)) {
            throw new Refused(401, "Invalid API key");
        }
    }

    private void answer(Request request) throws IOException {
        List<String> path = request.path();
        if (request.exchange().getRequestMethod().equals("POST")) {
            post(request);
            return;
        }
        switch (path.get(0)) {
            case "auth" ->
                json(
                        request,
                        Map.of(
                                "origin",
                                Map.of("type", "user", "id", "reader@example.org"),
                                "user_is_admin",
                                false,
                                "is_device",
                                false,
                                "roles",
                                List.of("user")));
            case "config" -> json(request, Map.of("site", Map.of("name", "Emulator")));
            case "version" -> json(request, Map.of("release", "emulated", "database", 1));
            case "users" -> json(request, Map.of("_id", "reader@example.org", "email", "reader@example.org"));
            case "download" -> tar(request);
            case "containers" -> one(request, path.get(1));
            default -> below(request, kind(path.get(0)));
        }
    }

    private static Kind kind(String plural) {
        return Arrays.stream(Kind.values())
                .filter(kind -> kind.plural().equals(plural))
                .findFirst()
                .orElseThrow(() -> new Refused(404, "no such endpoint: " + plural));
    }

    private void below(Request request, Kind kind) throws IOException {
        List<String> path = request.path();
        if (path.size() == 1) {
            list(request, kind, hierarchy.all(kind));
        } else if (path.size() == 2) {
            one(request, path.get(1));
        } else if (path.size() == 4 && path.get(2).equals("files")) {
            file(request, kind, path.get(1), path.get(3));
        } else if (path.size() == 5
                && path.get(2).equals("files")
                && path.get(4).equals("info")) {
            // The whole entry, as in the swagger of scitran/core.
            json(request, entry(request, kind, path.get(1), path.get(3)));
        } else if (path.size() == 3) {
            Kind wanted = kind(path.get(2));
            hierarchy.find(path.get(1)).orElseThrow(() -> new Refused(404, "no such container"));
            int index = hierarchy.index(path.get(1), kind).orElseThrow(() -> new Refused(404, "no such container"));
            list(request, wanted, hierarchy.within(kind, index, wanted));
        } else {
            throw new Refused(404, "no such endpoint");
        }
    }

    private void one(Request request, String id) throws IOException {
        Map<String, Object> found =
                hierarchy.find(id).orElseThrow(() -> new Refused(404, "There is no such thing: " + id));
        Kind kind = hierarchy.kind(id).orElseThrow();
        if (kind == Kind.FILE) {
            json(request, found);
            return;
        }
        Map<String, Object> told =
                hierarchy.whole(kind, hierarchy.index(id, kind).orElseThrow());
        if (leavesOutInfo) {
            told.computeIfPresent(
                    "files",
                    (key, files) -> ((List<?>) files)
                            .stream().map(Emulator::withoutInfo).toList());
        }
        json(request, told);
    }

    /** Returns a file's entry as in a list: {@code info_exists} says whether something was left out. */
    private static Map<?, ?> withoutInfo(Object entry) {
        Map<Object, Object> told = new LinkedHashMap<>((Map<?, ?>) entry);
        told.remove("info");
        return told;
    }

    private void list(Request request, Kind kind, IntStream all) throws IOException {
        Map<String, String> query = request.query();
        int limit = positive(query.getOrDefault("limit", "" + LIMIT_DEFAULT));
        String after = query.get("after_id");
        if (after != null && (query.containsKey("sort") || query.containsKey("page") || query.containsKey("skip"))) {
            throw new Refused(422, "after_id goes with neither sort nor page nor skip");
        }
        Predicate<Map<String, Object>> filter = query.containsKey("filter")
                ? Filter.of(query.get("filter")).orElseThrow(() -> new Refused(422, "bad filter"))
                : told -> true;
        int behind = after == null
                ? -1
                : hierarchy.index(after, kind).orElseThrow(() -> new Refused(422, "no such id: " + after));
        Stream<Map<String, Object>> found = all.filter(i -> i > behind)
                .filter(i -> !hierarchy.isRemoved(Hierarchy.id(kind, i)))
                .mapToObj(i -> kind == Kind.FILE ? hierarchy.fileFacts(i) : hierarchy.container(kind, i))
                .filter(filter);
        if (query.containsKey("sort")) {
            found = found.sorted(order(query.get("sort")));
        }
        int skip = query.containsKey("page") ? limit * (positive(query.get("page")) - 1) : 0;
        page(
                request,
                kind,
                found.skip(skip)
                        .limit(limit)
                        .map(told -> kind == Kind.FILE
                                ? hierarchy.find((String) told.get("file_id")).orElseThrow()
                                : told)
                        .toList());
    }

    private void page(Request request, Kind kind, List<Map<String, Object>> results) throws IOException {
        String features = request.exchange().getRequestHeaders().getFirst("X-Accept-Feature");
        boolean asPage = kind == Kind.FILE || (features != null && features.contains("pagination"));
        json(request, asPage ? Map.of("count", results.size(), "total", results.size(), "results", results) : results);
    }

    private static int positive(String number) {
        if (!number.matches("[1-9][0-9]{0,8}")) {
            throw new Refused(422, "not a positive number: " + number);
        }
        return Integer.parseInt(number);
    }

    private static Comparator<Map<String, Object>> order(String sort) {
        String[] parts = sort.split(":");
        Comparator<Map<String, Object>> order =
                Comparator.comparing(told -> String.valueOf(Filter.field(told, parts[0].split("\\."))));
        return parts.length > 1 && parts[1].matches("desc|-1") ? order.reversed() : order;
    }

    // --- one file's bytes ---

    private Map<String, Object> entry(Request request, Kind kind, String container, String name) {
        int index = hierarchy.index(container, kind).orElseThrow(() -> new Refused(404, "no such container"));
        String version = request.query().get("version");
        return hierarchy.fileEntries(kind, index).stream()
                .filter(told -> told.get("name").equals(name))
                .filter(told -> version == null || version.equals(String.valueOf(told.get("version"))))
                .findFirst()
                .orElseThrow(() -> new Refused(404, "no such file"));
    }

    private void file(Request request, Kind kind, String container, String name) throws IOException {
        Map<String, Object> entry = entry(request, kind, container, name);
        String hash = request.query().get("hash");
        if (hash != null && !hash.equals(entry.get("hash"))) {
            throw new Refused(409, "file exists, hash mismatch");
        }
        if ("".equals(request.query().get("ticket"))) {
            String ticket = UUID.randomUUID().toString();
            tickets.put(ticket, container);
            json(request, Map.of("ticket", ticket));
            return;
        }
        downloads
                .computeIfAbsent(String.valueOf(entry.get("file_id")), key -> new AtomicLong())
                .incrementAndGet();
        byte[] content = hierarchy.content(
                hierarchy.index(String.valueOf(entry.get("file_id")), Kind.FILE).orElseThrow());
        bytes(request, content);
    }

    private void bytes(Request request, byte[] content) throws IOException {
        HttpExchange exchange = request.exchange();
        String range = exchange.getRequestHeaders().getFirst("Range");
        if (range != null) {
            ranges.add(range);
        }
        boolean view = "true".equals(request.query().get("view"));
        Matcher matcher = RANGE.matcher(range == null ? "" : range);
        int from = 0;
        int to = content.length;
        int status = 200;
        if (view && matcher.matches()) {
            from = Integer.parseInt(matcher.group(1));
            if (from >= content.length) {
                throw new Refused(416, "starts past the end");
            }
            int last = matcher.group(2).isEmpty() ? content.length - 1 : Integer.parseInt(matcher.group(2));
            if (last < content.length) {
                status = 206;
                to = last + 1;
                from -= request.fault()
                                .filter(fault -> fault == Fault.WRONG_RANGE)
                                .isPresent()
                        ? 7
                        : 0;
                exchange.getResponseHeaders()
                        .set("Content-Range", "bytes %d-%d/%d".formatted(from, last, content.length));
            } else {
                from = 0;
            }
        }
        exchange.getResponseHeaders().set("Content-Type", view ? "application/zip" : "application/octet-stream");
        exchange.sendResponseHeaders(status, to == from ? -1 : to - from);
        write(exchange.getResponseBody(), content, from, to, request.fault());
    }

    private void write(OutputStream body, byte[] content, int from, int to, Optional<Fault> fault) throws IOException {
        int half = from + (to - from) / 2;
        if (fault.isEmpty() || fault.get() == Fault.WRONG_RANGE) {
            slices(body, content, from, to);
            return;
        }
        if (fault.get() == Fault.FLIPPED) {
            byte[] flipped = content.clone();
            flipped[half] ^= 1;
            slices(body, flipped, from, to);
            return;
        }
        slices(body, content, from, half);
        body.flush();
        if (fault.get() == Fault.STALLED) {
            untilClosed();
        }
    }

    /** NB: in slices, because the JDK's server copies everything that it is given at once. */
    private static void slices(OutputStream body, byte[] content, int from, int to) throws IOException {
        for (int at = from; at < to; at += SLICE_BYTES) {
            body.write(content, at, Math.min(SLICE_BYTES, to - at));
        }
    }

    private void untilClosed() {
        try {
            closed.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // --- what is posted ---

    private void post(Request request) throws IOException {
        JsonNode body = JSON.readTree(request.exchange().getRequestBody().readAllBytes());
        switch (request.path().get(0)) {
            case "lookup" -> lookup(request, body);
            case "download" -> {
                String ticket = UUID.randomUUID().toString();
                tickets.put(ticket, body.at("/nodes/0/_id").asString());
                json(request, Map.of("ticket", ticket, "file_cnt", 1, "size", 1, "filename", "download.tar"));
            }
            default -> throw new Refused(404, "no such endpoint");
        }
    }

    private void lookup(Request request, JsonNode body) throws IOException {
        List<String> wanted = new ArrayList<>();
        body.get("path").forEach(node -> wanted.add(node.asString()));
        String found = hierarchy
                .all(Kind.ACQUISITION)
                .mapToObj(Hierarchy::acquisition)
                .filter(id -> hierarchy.labelsToRoot(id).equals(wanted))
                .findFirst()
                .orElseThrow(() -> new Refused(404, "nothing has this path"));
        one(request, found);
    }

    /** Sends one acquisition as a ustar archive. */
    private void tar(Request request) throws IOException {
        String container = tickets.getOrDefault(request.query().getOrDefault("ticket", ""), "");
        int index = hierarchy.index(container, Kind.ACQUISITION).orElseThrow(() -> new Refused(404, "no such ticket"));
        ByteArrayOutputStream tar = new ByteArrayOutputStream();
        for (int file : hierarchy.files(Kind.ACQUISITION, index)) {
            byte[] content = hierarchy.content(file);
            tar.write(tarHeader("scitran/a/" + hierarchy.fileEntry(file).get("name"), content.length));
            tar.write(content);
            tar.write(new byte[(512 - content.length % 512) % 512]);
        }
        tar.write(new byte[1024]);
        send(request.exchange(), 200, "application/octet-stream", tar.toByteArray());
    }

    private static byte[] tarHeader(String name, int size) {
        byte[] header = new byte[512];
        put(header, 0, name);
        put(header, 100, "0000644\0" + "0000000\0" + "0000000\0" + "%011o\0".formatted(size) + "00000000000\0");
        put(header, 148, "        0");
        put(header, 257, "ustar\00000");
        int sum = 0;
        for (byte b : header) {
            sum += b & 0xff;
        }
        put(header, 148, "%06o\0 ".formatted(sum));
        return header;
    }

    private static void put(byte[] header, int at, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        System.arraycopy(bytes, 0, header, at, bytes.length);
    }

    // --- answers ---

    private static void json(Request request, Object told) throws IOException {
        byte[] bytes = JSON.writeValueAsBytes(told);
        if (request.fault().filter(fault -> fault == Fault.TRUNCATED).isPresent()) {
            request.exchange().sendResponseHeaders(200, bytes.length);
            request.exchange().getResponseBody().write(bytes, 0, bytes.length / 2);
            request.exchange().getResponseBody().flush();
            return;
        }
        send(request.exchange(), 200, "application/json; charset=utf-8", bytes);
    }

    private static void error(HttpExchange exchange, int status, String message) throws IOException {
        byte[] body =
                JSON.writeValueAsBytes(Map.of("message", message, "status_code", status, "request_id", "emulated"));
        send(exchange, status, "application/json; charset=utf-8", body);
    }

    private static void send(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }
}
