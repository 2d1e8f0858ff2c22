package dozo.source.xnat;

import static dozo.source.xnat.XnatContent.find;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dozo.source.xnat.XnatContent.Holder;
import dozo.source.xnat.XnatContent.Res;
import dozo.source.xnat.XnatContent.Session;
import dozo.source.xnat.XnatContent.Subject;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * An emulated XNAT over plain HTTP on loopback. Strict: what the public code does not describe is refused. Sources, from
 * NrgXnat/xnat 93d33cbf of 2024-06-19: routes {@code XNATApplication}; files {@code FileList} and {@code CatalogUtils}
 * ({@code getEntryDetails}, {@code storeCatalogEntry}, {@code getEntryByURI}); lists of resources
 * {@code XNATTemplate.loadCatalogs} and {@code CatalogUtils.populateTable}; sessions in lists
 * {@code ExperimentListResource} and {@code QueryOrganizerResource}; documents {@code ItemJSONBuilder}; creation
 * {@code SubjAssessmentResource} and {@code ScanResource}; prearchive {@code PrearcTableBuilder}; the session's cookie
 * {@code UserSession}, and pyxnat 442d7412 {@code core/interfaces.py}. Assumed: names of fields in documents, answers to
 * the creation of assessors and reconstructions, and what an upload that is cut off leaves.
 */
public final class EmulatedXnat implements AutoCloseable {

    public static final String LOGIN = "dozo:secret word";

    private static final JsonMapper JSON = new JsonMapper();
    private static final Set<String> FIELDS = Set.of(
            "format",
            "content",
            "xsiType",
            "inbody",
            "overwrite",
            "all",
            "columns",
            "project",
            "date",
            "time",
            "note",
            "UID",
            "type",
            "quality",
            "series_description",
            "scanner",
            "operator",
            "gender",
            "baseScanType");

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Set<String> cookies = ConcurrentHashMap.newKeySet();
    public final XnatContent content;

    /** The writing requests so far: method, and path with query. */
    public final List<String> writes = Collections.synchronizedList(new ArrayList<>());

    /** All requests so far. */
    public final List<String> requests = Collections.synchronizedList(new ArrayList<>());

    /** What happens to a request; asked with its method, and its path with query. */
    public volatile Function<String, Fate> fate = request -> Fate.DONE;

    /** Whether the user may write: without that, an upload is answered by 200 and not done ({@code FileList.handlePost}). */
    public volatile boolean mayWrite = true;

    /** What happens to a request. */
    public enum Fate {
        DONE,
        /** 403. */
        DENIED,
        /** 404. */
        GONE,
        /** 204, as with {@code accept-not-found}. */
        NO_CONTENT,
        /** 500. */
        BROKEN,
        /** A login page with status 200. */
        PAGE,
        /** 302 to a login page. */
        REDIRECTED,
        /** Text that is no JSON. */
        GIBBERISH,
        /** The connection ends without an answer. */
        LOST,
        /** It is done, and the connection ends without an answer. */
        UNANSWERED,
        /** 200, without being done. */
        IGNORED,
        /** The body of the answer ends too early. */
        CUT,
        /** A byte of the body of the answer is changed. */
        FLIPPED,
        /** Half of an upload is on the disk, without an entry in the catalogue. */
        HALF_STORED,
        /** The upload is stored with a changed byte, as by an anonymisation script. */
        CHANGED,
        /** It has no answer until the emulator is closed. */
        HANGING
    }

    private record Request(HttpExchange exchange, String method, List<String> path, Map<String, String> query) {

        boolean is(String name) {
            return "true".equals(query.get(name));
        }
    }

    /** An error answer. */
    private static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final int status;

        Refused(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    private record Reply(String type, byte[] body) {

        static Reply json(JsonNode node) {
            return new Reply("application/json", JSON.writeValueAsBytes(node));
        }

        static Reply text(String text) {
            return new Reply("text/plain", text.getBytes(StandardCharsets.UTF_8));
        }
    }

    public EmulatedXnat(XnatContent content) {
        this.content = content;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1_000);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    /** Returns its address; XNAT is below a path there. */
    public String address() {
        return "http://localhost:%d/xnat".formatted(server.getAddress().getPort());
    }

    /** Ends all sessions of users. */
    public void expire() {
        cookies.clear();
    }

    /** Returns how many sessions of users are open. */
    public int open() {
        return cookies.size();
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String raw = exchange.getRequestURI().toString().substring("/xnat".length());
            String asked = exchange.getRequestMethod() + " " + raw;
            requests.add(asked);
            if (exchange.getRequestMethod().equals("PUT")) {
                writes.add(asked);
            }
            Fate due = fate.apply(asked);
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (isWhole(exchange, due)) {
                return;
            }
            try {
                Request request = request(exchange);
                Reply reply = authenticated(request) ? answer(request, stored(due, body), due) : page();
                if (due != Fate.UNANSWERED) {
                    send(exchange, reply, due);
                }
            } catch (Refused refused) {
                error(exchange, refused.status, refused.getMessage());
            }
        }
    }

    /** Returns whether the fate was the whole answer. */
    private boolean isWhole(HttpExchange exchange, Fate due) throws IOException {
        switch (due) {
            case DENIED -> error(exchange, 403, "denied");
            case GONE -> error(exchange, 404, "gone");
            case BROKEN -> error(exchange, 500, "broken");
            case NO_CONTENT -> exchange.sendResponseHeaders(204, -1);
            case PAGE -> send(exchange, page(), Fate.DONE);
            case GIBBERISH -> send(exchange, Reply.text("[{"), Fate.DONE);
            case REDIRECTED -> {
                exchange.getResponseHeaders().set("Location", "/app/template/Login.vm");
                exchange.sendResponseHeaders(302, -1);
            }
            case HANGING -> {
                try {
                    closed.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            case IGNORED -> send(exchange, Reply.text(""), Fate.DONE);
            case LOST -> {}
            case DONE, UNANSWERED, CUT, FLIPPED, HALF_STORED, CHANGED -> {
                return false;
            }
        }
        return true;
    }

    private static Reply page() {
        return new Reply(
                "text/html;charset=UTF-8", "<html><body>Please log in.</body></html>".getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] stored(Fate due, byte[] body) {
        byte[] stored = due == Fate.HALF_STORED ? Arrays.copyOf(body, body.length / 2) : body;
        return due == Fate.CHANGED ? flipped(stored) : stored;
    }

    private static byte[] flipped(byte[] body) {
        byte[] flipped = body.clone();
        flipped[flipped.length / 2] ^= 1;
        return flipped;
    }

    private static void send(HttpExchange exchange, Reply reply, Fate due) throws IOException {
        byte[] body = due == Fate.FLIPPED ? flipped(reply.body()) : reply.body();
        exchange.getResponseHeaders().set("Content-Type", reply.type());
        if (body.length == 0) {
            exchange.sendResponseHeaders(200, -1);
            return;
        }
        exchange.sendResponseHeaders(200, body.length);
        OutputStream out = exchange.getResponseBody();
        out.write(body, 0, due == Fate.CUT ? body.length / 2 : body.length);
        // Closed with the exchange: one that is too short ends the connection.
        out.flush();
    }

    private static void error(HttpExchange exchange, int status, String message) throws IOException {
        byte[] body = "<html><body>%s</body></html>".formatted(message).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/html");
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
    }

    private static Request request(HttpExchange exchange) {
        String raw = exchange.getRequestURI().getRawPath().substring("/xnat".length());
        if (!raw.startsWith("/data/")) {
            throw new Refused(404, "not below /data");
        }
        List<String> path =
                new ArrayList<>(List.of(raw.substring("/data/".length()).split("/", -1)));
        if (path.getFirst().equals("archive")) {
            path.removeFirst();
        }
        Map<String, String> query = new TreeMap<>();
        String text = exchange.getRequestURI().getRawQuery();
        for (String each : text == null ? new String[0] : text.split("&")) {
            String[] pair = each.split("=", 2);
            if (!FIELDS.contains(pair[0])) {
                throw new Refused(400, "unknown parameter " + pair[0]);
            }
            query.put(pair[0], URLDecoder.decode(pair[1], StandardCharsets.UTF_8));
        }
        return new Request(exchange, exchange.getRequestMethod(), path, query);
    }

    /** Returns whether the request belongs to a session; a wrong login is refused. */
    private boolean authenticated(Request request) {
        String login = "Basic " + Base64.getEncoder().encodeToString(LOGIN.getBytes(StandardCharsets.UTF_8));
        if (!login.equals(request.exchange().getRequestHeaders().getFirst("Authorization"))) {
            throw new Refused(401, "no login");
        }
        String cookie = request.exchange().getRequestHeaders().getFirst("Cookie");
        return request.path().equals(List.of("JSESSION"))
                || (cookie != null && cookies.contains(cookie.replace("JSESSIONID=", "")));
    }

    private synchronized Reply answer(Request request, byte[] body, Fate due) {
        List<String> path = request.path();
        boolean writes = request.method().equals("PUT");
        if (path.equals(List.of("JSESSION"))) {
            return session(request);
        }
        if (path.getFirst().equals("prearchive")) {
            return list(content.prearchive.stream()
                    .filter(row -> path.size() == 1 || row.get("project").equals(path.get(2)))
                    .map(row -> object(row))
                    .toList());
        }
        if (path.equals(List.of("experiments"))) {
            return sessions(request);
        }
        if (path.getFirst().equals("projects") && path.size() == 2) {
            return project(decoded(path.get(1)));
        }
        if (path.getFirst().equals("subjects") && path.size() == 2) {
            return document(subject(
                    find(content.subjects, each -> each.id.equals(path.get(1))).orElseThrow(() -> gone("subject"))));
        }
        if (path.getFirst().equals("projects")
                && path.size() == 4
                && path.get(2).equals("subjects")) {
            return ofSubject(request, writes);
        }
        int at = path.indexOf("experiments");
        if (at < 0) {
            throw new Refused(404, "no such resource");
        }
        if (path.size() == at + 2 && writes) {
            return created(request, at);
        }
        return ofSession(found(path, at), path.subList(at + 2, path.size()), request, body, due);
    }

    private Reply session(Request request) {
        if (request.method().equals("DELETE")) {
            String cookie =
                    String.valueOf(request.exchange().getRequestHeaders().getFirst("Cookie"));
            cookies.remove(cookie.replace("JSESSIONID=", ""));
            return Reply.text("");
        }
        String cookie = UUID.randomUUID().toString().replace("-", "").toUpperCase(java.util.Locale.ROOT);
        cookies.add(cookie);
        return Reply.text(cookie);
    }

    private Reply project(String id) {
        if (!content.projects.contains(id)) {
            throw gone("project");
        }
        return document(item("xnat:projectData", Map.of("ID", id)));
    }

    /** NB: the project in a row is the one that owns the session; those that it is shared into are not matched. */
    private Reply sessions(Request request) {
        String project = request.query().get("project");
        List<String> columns = List.of(request.query().get("columns").split(","));
        return list(content.sessions.stream()
                .filter(each -> project == null || each.project.equals(project))
                .map(each -> {
                    Map<String, String> all = Map.of(
                            "ID", each.id,
                            "project", each.project,
                            "label", each.label,
                            "xsiType", each.type,
                            "date", each.fields.getOrDefault("date", ""),
                            "subject_ID", each.subject.id,
                            "subject_label", each.subject.label);
                    ObjectNode row = JSON.createObjectNode();
                    columns.forEach(column -> row.put(column, all.get(column)));
                    return row.put("URI", "/data/experiments/" + each.id);
                })
                .toList());
    }

    private Reply ofSubject(Request request, boolean writes) {
        String project = decoded(request.path().get(1));
        String label = decoded(request.path().get(3));
        if (writes) {
            checkMayWrite();
            if (!content.projects.contains(project)) {
                throw gone("project");
            }
            Subject made = content.subject(project, label);
            fields(request).forEach(made.fields::put);
            return Reply.text(made.id);
        }
        return document(subject(find(
                        content.subjects,
                        each -> each.project.equals(project) && (each.label.equals(label) || each.id.equals(label)))
                .orElseThrow(() -> gone("subject"))));
    }

    private void checkMayWrite() {
        if (!mayWrite) {
            throw new Refused(403, "insufficient create privileges");
        }
    }

    private Session found(List<String> path, int at) {
        String name = decoded(path.get(at + 1));
        String project = path.getFirst().equals("projects") ? decoded(path.get(1)) : null;
        return find(
                        content.sessions,
                        each -> project == null
                                ? each.id.equals(name)
                                : each.project.equals(project) && (each.label.equals(name) || each.id.equals(name)))
                .filter(each -> at < 4 || each.subject.label.equals(decoded(path.get(3))))
                .orElseThrow(() -> gone("session"));
    }

    /** NB: XNAT moves a session with this label to the subject in the path. */
    private Reply created(Request request, int at) {
        checkMayWrite();
        List<String> path = request.path();
        if (at != 4) {
            throw new Refused(422, "must include the subject");
        }
        String project = decoded(path.get(1));
        String label = decoded(path.get(5));
        String type = request.query().get("xsiType");
        if (type == null) {
            throw new Refused(417, "Need PUT Contents");
        }
        Session session = find(content.sessions, each -> each.project.equals(project) && each.label.equals(label))
                .orElseGet(() -> {
                    Session made = content.session(project, decoded(path.get(3)), label);
                    made.fields.clear();
                    return made;
                });
        session.subject = content.subject(project, decoded(path.get(3)));
        session.type = type;
        fields(request).forEach(session.fields::put);
        return Reply.text(session.id);
    }

    private static Map<String, String> fields(Request request) {
        Map<String, String> fields = new TreeMap<>(request.query());
        fields.keySet().removeAll(Set.of("xsiType", "format", "inbody", "overwrite"));
        return fields;
    }

    private Reply ofSession(Session session, List<String> rest, Request request, byte[] body, Fate due) {
        if (rest.isEmpty()) {
            return document(session(session));
        }
        if (rest.equals(List.of("files"))) {
            checkAll(request);
            return list(resources(session)
                    .flatMap(each -> rows(each.resource(), each.base()).stream())
                    .toList());
        }
        Holder holder = session;
        List<String> left = rest;
        if (!rest.getFirst().equals("resources")) {
            String level = rest.getFirst();
            String name = decoded(rest.get(1));
            Optional<Holder> known = find(
                    session.holders,
                    each -> each.level.equals(level) && (each.id.equals(name) || each.label.equals(name)));
            if (rest.size() == 2) {
                return request.method().equals("PUT")
                        ? createdHolder(session, level, name, request)
                        : document(holder(known.orElseThrow(() -> gone(level))));
            }
            holder = known.orElseThrow(() -> gone(level));
            left = rest.subList(2, rest.size());
        }
        if (left.size() == 1) {
            return resources(session, holder, request);
        }
        return ofResource(session, holder, left, request, body, due);
    }

    private static void checkAll(Request request) {
        if (!request.is("all")) {
            throw new Refused(400, "only with all=true");
        }
    }

    private Reply createdHolder(Session session, String level, String name, Request request) {
        checkMayWrite();
        String type = request.query().get("xsiType");
        if (type == null) {
            throw new Refused(417, "Need PUT Contents");
        }
        if (type.equals("xnat:imageScanData")) {
            throw new Refused(400, "Multiple scan modalities can be associated here.");
        }
        Holder made = content.holder(session, level, name);
        made.type = type;
        fields(request).forEach(made.fields::put);
        return Reply.text(made.id);
    }

    private record Placed(Session session, Holder holder, Res resource) {

        String base() {
            String above = holder == session ? "" : "/%s/%s".formatted(holder.level, holder.id);
            String out = Set.of("assessors", "reconstructions").contains(holder.level) ? "/out" : "";
            return "/experiments/%s%s%s/resources/%d/files".formatted(session.id, above, out, resource.id);
        }
    }

    /** NB: inputs are not among them. */
    private static Stream<Placed> resources(Session session) {
        return session.all()
                .flatMap(holder -> holder.resources.stream().map(each -> new Placed(session, holder, each)));
    }

    private Reply resources(Session session, Holder holder, Request request) {
        Stream<Placed> all = request.is("all") && holder == session
                ? resources(session)
                : holder.resources.stream().map(each -> new Placed(session, holder, each));
        return list(all.map(each -> {
                    Res resource = each.resource();
                    ObjectNode row = JSON.createObjectNode()
                            .put("xnat_abstractresource_id", resource.id)
                            .put("label", resource.label)
                            .put("element_name", "xnat:resourceCatalog")
                            .put("category", each.holder().level)
                            .put("cat_id", each.holder() == session ? "" : each.holder().id)
                            .put("content", resource.content)
                            .put("format", resource.format);
                    return row.put(
                            "file_count",
                            resource.count == null ? resource.catalogue.size() : resource.count.intValue());
                })
                .toList());
    }

    private Reply ofResource(
            Session session, Holder holder, List<String> left, Request request, byte[] body, Fate due) {
        String name = decoded(left.get(1));
        boolean writes = request.method().equals("PUT");
        Optional<Res> known = Stream.concat(
                        holder.resources.stream(),
                        // A number finds any resource of the session, inputs too.
                        session.all()
                                .flatMap(each -> Stream.concat(each.resources.stream(), each.inputs.stream()))
                                .filter(each -> name.equals(String.valueOf(each.id))))
                .filter(each -> each.label.equals(name) || name.equals(String.valueOf(each.id)))
                .findFirst();
        if (left.size() == 2 && writes) {
            checkMayWrite();
            Res made = content.resource(holder, name);
            made.format = request.query().getOrDefault("format", "");
            made.content = request.query().getOrDefault("content", "");
            return Reply.text("");
        }
        Res resource = known.orElseThrow(() -> gone("resource"));
        if (!left.get(2).equals("files")) {
            throw gone("resource");
        }
        if (left.size() == 3) {
            String base = holder == session ? "" : "/%s/%s".formatted(holder.level, holder.id);
            return list(rows(
                    resource, "/data/experiments/%s%s/resources/%d/files".formatted(session.id, base, resource.id)));
        }
        String path = String.join("/", left.subList(3, left.size()));
        if (path.contains("%2B") || path.contains("%20")) {
            path = decoded(path);
        }
        return writes ? upload(resource, path, request, body, due) : file(resource, path);
    }

    private Reply upload(Res resource, String path, Request request, byte[] body, Fate due) {
        if (!mayWrite) {
            return Reply.text("");
        }
        if (!request.is("inbody")) {
            throw new Refused(400, "didn't provide any data");
        }
        if (body.length == 0) {
            throw new Refused(400, "found request entity size of 0");
        }
        if (resource.disk.containsKey(path) && !request.is("overwrite")) {
            ObjectNode duplicates = JSON.createObjectNode();
            duplicates.putArray("duplicates").add(path);
            return new Reply("text/html", JSON.writeValueAsBytes(duplicates));
        }
        resource.disk.put(path, body);
        if (due == Fate.HALF_STORED) {
            throw new Refused(500, "unexpected end of the request");
        }
        resource.catalogue.put(path, content.checksums ? XnatContent.md5(body) : "");
        return Reply.text("");
    }

    private static Reply file(Res resource, String path) {
        String decoded = decoded(path);
        String entry = resource.catalogue.containsKey(path) ? path : decoded;
        byte[] bytes = resource.catalogue.containsKey(entry) ? resource.disk.get(entry) : null;
        if (resource.broken || bytes == null) {
            throw gone("file");
        }
        String type = path.endsWith(".html") ? "text/html" : "application/octet-stream";
        return new Reply(type, bytes);
    }

    private static List<ObjectNode> rows(Res resource, String base) {
        if (resource.broken) {
            throw gone("catalogue");
        }
        List<ObjectNode> rows = new ArrayList<>();
        resource.catalogue.forEach((name, digest) -> {
            byte[] bytes = resource.disk.get(name);
            String size = resource.sizes.getOrDefault(name, bytes == null ? "" : String.valueOf(bytes.length));
            rows.add(JSON.createObjectNode()
                    .put("Name", name.replaceAll(".*/", ""))
                    .put("Size", size)
                    .put("URI", base + "/" + name)
                    .put("collection", resource.label)
                    .put("file_tags", "")
                    .put("file_format", resource.format)
                    .put("file_content", resource.content)
                    .put("cat_ID", resource.id)
                    .put("digest", digest));
        });
        return rows;
    }

    private static Reply list(Collection<ObjectNode> rows) {
        ObjectNode whole = JSON.createObjectNode();
        ArrayNode result = whole.putObject("ResultSet").putArray("Result");
        rows.forEach(result::add);
        ((ObjectNode) whole.get("ResultSet")).put("totalRecords", String.valueOf(rows.size()));
        return Reply.json(whole);
    }

    private static Reply document(ObjectNode item) {
        ObjectNode whole = JSON.createObjectNode();
        whole.putArray("items").add(item);
        return Reply.json(whole);
    }

    private static ObjectNode item(String type, Map<String, String> fields) {
        ObjectNode item = JSON.createObjectNode();
        item.putObject("meta").put("isHistory", false).put("xsi:type", type);
        item.set("data_fields", object(fields));
        item.putArray("children");
        return item;
    }

    private static ObjectNode subject(Subject subject) {
        Map<String, String> fields = new TreeMap<>(subject.fields);
        fields.putAll(Map.of("ID", subject.id, "label", subject.label, "project", subject.project));
        ObjectNode item = item("xnat:subjectData", fields);
        ((ArrayNode) item.get("children")).addObject().put("field", "experiments/experiment");
        return item;
    }

    private static ObjectNode session(Session session) {
        Map<String, String> fields = new TreeMap<>(session.fields);
        fields.putAll(Map.of(
                "ID", session.id,
                "label", session.label,
                "project", session.project,
                "subject_ID", session.subject.id));
        ObjectNode item = item(session.type, fields);
        ArrayNode children = (ArrayNode) item.get("children");
        for (String[] level : new String[][] {
            {"scans", "scans/scan"},
            {"assessors", "assessors/assessor"},
            {"reconstructions", "reconstructions/reconstructedImage"}
        }) {
            ArrayNode items = children.addObject().put("field", level[1]).putArray("items");
            session.holders.stream()
                    .filter(each -> each.level.equals(level[0]))
                    .forEach(each -> items.add(holder(each)));
        }
        return item;
    }

    private static ObjectNode holder(Holder holder) {
        Map<String, String> fields = new TreeMap<>(holder.fields);
        fields.put("ID", holder.id);
        if (holder.level.equals("assessors")) {
            fields.put("label", holder.label);
        }
        ObjectNode item = item(holder.type, fields);
        if (!holder.inputs.isEmpty()) {
            ArrayNode inputs = ((ArrayNode) item.get("children"))
                    .addObject()
                    .put("field", "in/file")
                    .putArray("items");
            holder.inputs.forEach(each -> {
                ObjectNode input = item("xnat:resourceCatalog", Map.of("label", each.label));
                ((ObjectNode) input.get("data_fields")).put("xnat_abstractresource_id", each.id);
                inputs.add(input);
            });
        }
        return item;
    }

    private static ObjectNode object(Map<String, String> fields) {
        ObjectNode object = JSON.createObjectNode();
        fields.forEach(object::put);
        return object;
    }

    private static Refused gone(String what) {
        return new Refused(404, "Unable to find " + what);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
