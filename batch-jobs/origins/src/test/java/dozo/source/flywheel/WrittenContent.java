package dozo.source.flywheel;

import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What was written into an emulated Flywheel. Safe for use by several threads. */
public final class WrittenContent {

    /** SDK: the fields of the models GroupInput, ProjectInput, SubjectInput, SessionInput and AcquisitionInput. */
    private static final Map<String, Set<String>> FIELDS = Map.of(
            "group", Set.of("_id", "label"),
            "project", Set.of("label", "description", "group", "info"),
            "subject",
                    Set.of(
                            "sex",
                            "cohort",
                            "type",
                            "race",
                            "ethnicity",
                            "species",
                            "strain",
                            "label",
                            "code",
                            "info",
                            "project"),
            "session",
                    Set.of(
                            "project",
                            "label",
                            "info",
                            "uid",
                            "timestamp",
                            "timezone",
                            "subject",
                            "age",
                            "weight",
                            "operator"),
            "acquisition", Set.of("label", "session", "uid", "timestamp", "timezone", "info"),
            "analysis", Set.of("label", "description", "inputs", "info"));

    /** KC: what its schemas require. */
    private static final Map<String, List<String>> REQUIRED = Map.of(
            "group", List.of("_id"),
            "project", List.of("label", "group"),
            "subject", List.of("project"),
            "session", List.of("project", "label"),
            "acquisition", List.of("session", "label"),
            "analysis", List.of("label"));

    /** SDK: FileCreateInput. */
    private static final Set<String> FILE_FIELDS = Set.of(
            "name", "size", "type", "mimetype", "modality", "classification", "tags", "info", "zip_member_count");

    private static final List<String> ORDER =
            List.of("group", "project", "subject", "session", "acquisition", "analysis");

    private final int era;
    private int made;

    /** By id; ids grow with creation. */
    private final Map<String, ObjectNode> containers = new TreeMap<>();

    private final Map<String, byte[]> bytes = new HashMap<>();
    private final Map<String, Ticket> tickets = new HashMap<>();

    /** What Flywheel states as the hash of bytes. */
    public volatile UnaryOperator<String> hashing = UnaryOperator.identity();

    /** An upload to signed addresses. */
    private record Ticket(String container, ObjectNode metadata, Map<Integer, byte[]> parts, int count) {}

    /** Answered with the API's error body. */
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;
        final int status;

        Refused(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    WrittenContent(int era) {
        this.era = era;
    }

    static String singular(String plural) {
        String kind = plural.equals("analyses") ? "analysis" : plural.replaceFirst("s$", "");
        if (!FIELDS.containsKey(kind)) {
            throw new Refused(404, "no such endpoint: " + plural);
        }
        return kind;
    }

    private String newId() {
        made++;
        return "65%02x%020x".formatted(era, made);
    }

    private static String now() {
        return Hierarchy.written(Instant.parse("2026-11-20T22:00:00Z"));
    }

    // --- reading ---

    /** Returns all containers, from the top, as single requests show them. */
    public synchronized List<ObjectNode> everything() {
        return containers.values().stream()
                .sorted(Comparator.comparing((ObjectNode each) -> ORDER.indexOf(kind(each)))
                        .thenComparing(each -> each.path("_id").asString()))
                .map(ObjectNode::deepCopy)
                .toList();
    }

    private static String kind(ObjectNode container) {
        return container.path("container_type").asString();
    }

    /** Lists have neither files nor info. */
    synchronized List<ObjectNode> all(String kind) {
        return listed(containers.values().stream().filter(each -> kind(each).equals(kind)));
    }

    synchronized List<ObjectNode> within(String above, String id, String kind) {
        container(above, id);
        return listed(containers.values().stream()
                .filter(each -> kind(each).equals(kind))
                .filter(each -> kind.equals("analysis")
                        ? each.path("parent").path("id").asString().equals(id)
                        : each.path("parents").path(above).asString("").equals(id)));
    }

    private static List<ObjectNode> listed(Stream<ObjectNode> found) {
        return found.map(each -> {
                    ObjectNode shown = each.deepCopy();
                    shown.put("info_exists", !each.path("info").isEmpty());
                    shown.remove(List.of("info", "files"));
                    return shown;
                })
                .toList();
    }

    synchronized ObjectNode container(String id) {
        return kept(id).deepCopy();
    }

    synchronized ObjectNode container(String kind, String id) {
        ObjectNode found = kept(id);
        if (!kind(found).equals(kind)) {
            throw new Refused(404, "no such " + kind);
        }
        return found.deepCopy();
    }

    synchronized ObjectNode kept(String id) {
        ObjectNode found = containers.get(id);
        if (found == null) {
            throw new Refused(404, "there is no container " + id);
        }
        return found;
    }

    synchronized ObjectNode file(String container, String name) {
        return keptFile(container, name).deepCopy();
    }

    synchronized ObjectNode keptFile(String container, String name) {
        for (JsonNode file : kept(container).path("files")) {
            if (file.path("name").asString().equals(name)) {
                return (ObjectNode) file;
            }
        }
        throw new Refused(404, "there is no file " + name);
    }

    synchronized ObjectNode fileById(String id) {
        return containers.values().stream()
                .flatMap(each -> each.path("files").valueStream())
                .filter(file -> file.path("file_id").asString().equals(id))
                .map(ObjectNode.class::cast)
                .findFirst()
                .orElseThrow(() -> new Refused(404, "there is no file " + id));
    }

    /** Returns a file's bytes. */
    public synchronized byte[] bytes(String container, String name) {
        return bytes.get(keptFile(container, name).path("_id").asString());
    }

    // --- writing ---

    private static void check(String kind, JsonNode body) {
        if (!body.isObject()) {
            throw new Refused(400, "expected an object");
        }
        body.properties().forEach(each -> {
            if (!FIELDS.get(kind).contains(each.getKey())) {
                throw new Refused(400, "additional properties are not allowed: " + each.getKey());
            }
        });
        REQUIRED.get(kind).forEach(field -> {
            if (body.path(field)
                    .asString(body.path(field).path("_id").asString(""))
                    .isEmpty()) {
                throw new Refused(400, "'%s' is a required property".formatted(field));
            }
        });
        if (!body.path("info").isMissingNode() && !body.path("info").isObject()) {
            throw new Refused(400, "info is not an object");
        }
    }

    /** KC: a group's id is chosen by whoever creates it; labels need not be unique. */
    synchronized JsonNode create(String kind, JsonNode body) {
        check(kind, body);
        if (kind.equals("analysis")) {
            throw new Refused(405, "analyses are created below another container");
        }
        String id = kind.equals("group") ? body.path("_id").asString() : newId();
        if (!id.matches("[a-z0-9][a-z0-9_.-]*[a-z0-9]") || containers.containsKey(id)) {
            throw new Refused(containers.containsKey(id) ? 409 : 400, "not a new group id: " + id);
        }
        ObjectNode container = made(kind, id, (ObjectNode) body);
        switch (kind) {
            case "project" -> parents(container, "group", body.path("group").asString());
            case "subject" -> parents(container, "project", body.path("project").asString());
            case "session" -> {
                parents(container, "project", body.path("project").asString());
                String subject = body.path("subject").path("_id").asString("");
                parents(container, "subject", subject);
                container
                        .putObject("subject")
                        .put("_id", subject)
                        .put("label", kept(subject).path("label").asString());
            }
            case "acquisition" ->
                parents(container, "session", body.path("session").asString());
            default -> {}
        }
        containers.put(id, container);
        return JsonNodeFactory.instance.objectNode().put("_id", id);
    }

    private static ObjectNode made(String kind, String id, ObjectNode body) {
        ObjectNode container = body.deepCopy();
        container
                .put("_id", id)
                .put("container_type", kind)
                .put("created", now())
                .put("modified", now());
        container.put("revision", 1);
        if (!container.has("info") && !kind.equals("group")) {
            container.putObject("info");
        }
        container.putArray("tags");
        container.putArray("notes");
        container.putArray("files");
        container.putObject("parents");
        return container;
    }

    private void parents(ObjectNode container, String kind, String id) {
        ObjectNode above = kept(id);
        if (!kind(above).equals(kind)) {
            throw new Refused(404, "no such " + kind);
        }
        ObjectNode parents = (ObjectNode) container.path("parents");
        above.path("parents").properties().forEach(each -> parents.set(each.getKey(), each.getValue()));
        parents.put(kind, id);
    }

    /** SDK: AdhocAnalysisInput, whose inputs are FileReferences; KC: each must exist. */
    synchronized JsonNode analysis(String kind, String parent, JsonNode body) {
        container(kind, parent);
        check("analysis", body);
        String id = newId();
        ObjectNode container = made("analysis", id, (ObjectNode) body);
        parents(container, kind, parent);
        container.putObject("parent").put("type", kind).put("id", parent);
        ArrayNode inputs = container.putArray("inputs");
        for (JsonNode input : body.path("inputs")) {
            if (input.size() != 3) {
                throw new Refused(400, "expected type, id and name of an input");
            }
            container(input.path("type").asString(), input.path("id").asString());
            inputs.add(file(input.path("id").asString(), input.path("name").asString()));
        }
        containers.put(id, container);
        return JsonNodeFactory.instance.objectNode().put("_id", id);
    }

    /** SDK: SessionModify has no uid. */
    synchronized JsonNode change(String kind, String id, JsonNode body) {
        ObjectNode kept = kept(id);
        body.properties().forEach(each -> {
            boolean allowed = FIELDS.get(kind).contains(each.getKey())
                    && !each.getKey().equals("_id")
                    && !(kind.equals("session") && each.getKey().equals("uid"));
            if (!allowed) {
                throw new Refused(400, "additional properties are not allowed: " + each.getKey());
            }
            kept.set(each.getKey(), each.getValue());
        });
        return modified();
    }

    private static ObjectNode modified() {
        return JsonNodeFactory.instance.objectNode().put("modified", 1);
    }

    /** SDK: InfoUpdateInput; KC: replace goes with neither set nor delete, and {@code $} and {@code .} in keys are altered. */
    synchronized JsonNode info(ObjectNode kept, JsonNode body) {
        boolean replaces = body.has("replace");
        if (replaces == (body.has("set") || body.has("delete"))
                || body.properties().stream()
                        .anyMatch(each -> !Set.of("replace", "set", "delete").contains(each.getKey()))) {
            throw new Refused(400, "expected either replace, or set and delete");
        }
        ObjectNode info = replaces ? kept.putObject("info") : (ObjectNode) kept.path("info");
        body.path(replaces ? "replace" : "set")
                .properties()
                .forEach(each -> info.set(each.getKey().replace('.', '_').replace("$", "-"), each.getValue()));
        body.path("delete").forEach(key -> info.remove(key.asString()));
        return modified();
    }

    /** SDK: Tag; KC: a tag that is there is a conflict. */
    synchronized JsonNode tag(String id, JsonNode body) {
        String value = body.path("value").asString("");
        ArrayNode tags = (ArrayNode) kept(id).path("tags");
        if (value.isEmpty() || body.size() != 1) {
            throw new Refused(400, "expected a value");
        }
        if (tags.valueStream().anyMatch(each -> each.asString().equals(value))) {
            throw new Refused(409, "the tag is there already");
        }
        tags.add(value);
        return modified();
    }

    /** SDK: NoteInput; author and time are the server's. */
    synchronized JsonNode note(String id, JsonNode body) {
        if (body.size() != 1 || body.path("text").asString("").isEmpty()) {
            throw new Refused(400, "expected a text");
        }
        ObjectNode note = JsonNodeFactory.instance
                .objectNode()
                .put("_id", newId())
                .put("text", body.path("text").asString())
                .put("user", "writer@example.org")
                .put("created", now())
                .put("modified", now());
        ((ArrayNode) kept(id).path("notes")).add(note);
        return note;
    }

    /** SDK: add_file_tags, a list of texts. */
    synchronized JsonNode fileTags(String id, JsonNode body) {
        if (!body.isArray()) {
            throw new Refused(400, "expected a list");
        }
        ArrayNode tags = (ArrayNode) fileById(id).path("tags");
        body.forEach(tags::add);
        return tags.deepCopy();
    }

    /** SDK: FileModifyInput. */
    synchronized JsonNode changeFile(String container, String name, JsonNode body) {
        ObjectNode kept = keptFile(container, name);
        body.properties().forEach(each -> {
            if (!Set.of("type", "modality").contains(each.getKey())) {
                throw new Refused(400, "additional properties are not allowed: " + each.getKey());
            }
            kept.set(each.getKey(), each.getValue());
        });
        return modified();
    }

    /** SDK: FileClassificationDelta. */
    synchronized JsonNode classification(ObjectNode kept, JsonNode body) {
        if (!body.has("replace") || body.has("add") || body.has("delete")) {
            throw new Refused(400, "only replacing is emulated");
        }
        if (body.has("modality")) {
            kept.set("modality", body.path("modality"));
        }
        kept.set("classification", body.path("replace"));
        return modified();
    }

    // --- files ---

    /** Another upload of a name is a new version of the same file. KC: the type is guessed if it is not stated. */
    synchronized JsonNode store(String container, String name, JsonNode metadata, byte[] content, boolean hashed) {
        metadata.properties().forEach(each -> {
            if (!FILE_FIELDS.contains(each.getKey())) {
                throw new Refused(400, "additional properties are not allowed: " + each.getKey());
            }
        });
        String called = metadata.path("name").asString(name);
        ArrayNode files = (ArrayNode) kept(container).path("files");
        ObjectNode entry = files.valueStream()
                .filter(file -> file.path("name").asString().equals(called))
                .map(ObjectNode.class::cast)
                .findFirst()
                .orElseGet(() -> files.addObject().put("file_id", newId()).put("version", 0));
        entry.put("version", entry.path("version").asInt() + 1);
        entry.put("_id", UUID.randomUUID().toString()).put("name", called).put("size", content.length);
        entry.put("hash", hashed ? hashing.apply(Hierarchy.hash(content)) : "");
        entry.put("type", called.endsWith(".zip") ? "archive" : "").putNull("modality");
        entry.putObject("classification");
        entry.putArray("tags");
        entry.putObject("info");
        entry.put("created", now()).put("modified", now());
        entry.putObject("parent_ref").put("type", kind(kept(container))).put("id", container);
        metadata.properties().stream()
                .filter(each -> !Set.of("name", "size").contains(each.getKey()))
                .forEach(each -> entry.set(each.getKey(), each.getValue()));
        bytes.put(entry.path("_id").asString(), content);
        return JsonNodeFactory.instance.arrayNode().add(entry.deepCopy());
    }

    /** S3 takes parts only of large files. */
    synchronized JsonNode openTicket(String container, JsonNode metadata, JsonNode names, int most, String storage) {
        int count = (int) Math.clamp(metadata.path("size").asLong(0) >> 18, 1, most);
        if (!metadata.isObject() || names.size() != 1) {
            throw new Refused(400, "expected metadata and one of filenames");
        }
        String id = UUID.randomUUID().toString();
        ObjectNode named =
                ((ObjectNode) metadata).deepCopy().put("name", names.get(0).asString());
        tickets.put(id, new Ticket(container, named, new TreeMap<>(), count));
        ObjectNode told = JsonNodeFactory.instance.objectNode().put("ticket", id);
        ArrayNode urls = told.putObject("urls").putArray(names.get(0).asString());
        for (int i = 1; i <= count; i++) {
            urls.add("%s?host=.s3.&uploadId=%s&partNumber=%d&signature=secret".formatted(storage, id, i));
        }
        told.putObject("headers").put("x-emulated", "signed");
        return told;
    }

    synchronized String storePart(String upload, int number, byte[] part) {
        tickets.get(upload).parts.put(number, part);
        return "tag-" + number;
    }

    /** SDK: closed with all tags of an S3 upload. KC: the size is the storage's, and there is no hash. */
    synchronized JsonNode closeTicket(String id, String container, JsonNode body) {
        Ticket ticket = tickets.get(id);
        if (ticket == null || !ticket.container.equals(container)) {
            throw new Refused(404, "no such ticket");
        }
        List<String> tags = new ArrayList<>();
        ticket.parts.keySet().forEach(number -> tags.add("tag-" + number));
        List<String> told = new ArrayList<>();
        if (body != null) {
            body.path("multipart").path("e_tags").forEach(tag -> told.add(tag.asString()));
        }
        if (body == null
                || !body.path("multipart").path("upload_id").asString("").equals(id)
                || told.size() != ticket.count
                || !told.equals(tags)) {
            throw new Refused(400, "parts are missing");
        }
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        ticket.parts.values().forEach(whole::writeBytes);
        tickets.remove(id);
        return store(container, null, ticket.metadata, whole.toByteArray(), false);
    }
}
