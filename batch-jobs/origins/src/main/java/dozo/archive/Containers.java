package dozo.archive;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import dozo.source.flywheel.Writes;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Finds or creates containers in a Flywheel, from the top. A container is found by the id that it was restored as, by its
 * own id, else by label, uid and time below the same parent; a container that was restored in the place of another one is
 * left out. If several remain, none is used or created. Used by one thread.
 */
final class Containers {

    private final Writes writes;
    private final RestoredIds.Of ids;
    private final FlywheelJson sealed;
    private final boolean replaces;

    /** The ids there, by those that were sealed. */
    private final Map<String, String> now = new HashMap<>();

    Containers(Writes writes, RestoredIds.Of ids, FlywheelJson sealed, boolean replaces) {
        this.writes = writes;
        this.ids = ids;
        this.sealed = sealed;
        this.replaces = replaces;
    }

    /**
     * A container that is there.
     *
     * @param differing the names of fields that differ and stay
     */
    record Found(String path, Set<String> differing) {}

    /**
     * Finds or creates a container, and sets what describes it.
     *
     * @throws NotRestored if it cannot be created, or several may be it
     */
    Found bring(SealedContainer container) throws IOException, InterruptedException {
        String id = container.kind() == ContainerKind.GROUP ? group(container) : id(container);
        now.put(container.id(), id);
        String path = container.kind().path(id);
        Description description =
                new Description(writes, path, container.object(), container.kind().fields, () -> there(path), replaces);
        return new Found(path, description.bring());
    }

    private JsonNode there(String path) throws IOException, InterruptedException {
        return writes.find(path)
                .orElseThrow(() -> new DeliveryException(Trouble.GONE, path + ": Flywheel has it no more"));
    }

    private String group(SealedContainer group) throws IOException, InterruptedException {
        ObjectNode body = fields(group).put("_id", group.id());
        JsonNode _ = writes.ensure(
                group.shown(),
                () -> writes.find(group.kind().path(group.id())),
                () -> writes.send("POST", "/groups", body));
        return group.id();
    }

    private String id(SealedContainer container) throws IOException, InterruptedException {
        String above = listPath(container);
        String create = container.kind() == ContainerKind.ANALYSIS
                ? above
                : "/" + container.kind().plural();
        return writes.ensure(container.shown(), () -> find(container, above), () -> {
            ObjectNode body = fields(container);
            references(container).forEach(body::set);
            if (!container.object().path("info").isEmpty()) {
                body.set("info", container.object().path("info"));
            }
            String made = writes.send("POST", create, body).path("_id").asString("");
            ids.add(container.kind(), container.id(), checked(made));
            return made;
        });
    }

    private static String checked(String id) throws DeliveryException {
        if (!id.matches("[A-Za-z0-9]{1,128}")) {
            throw new DeliveryException(Trouble.GONE, "Flywheel created something without a valid _id");
        }
        return id;
    }

    private static ObjectNode fields(SealedContainer container) {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        for (String field : container.kind().fields) {
            JsonNode value = container.object().path(field);
            if (!value.isMissingNode() && !value.isNull()) {
                body.set(field, value);
            }
        }
        return body;
    }

    /** Returns the path of the list that the container is in. */
    private String listPath(SealedContainer container) throws NotRestored {
        return switch (container.kind()) {
            case GROUP -> throw new IllegalArgumentException("groups are in no other container");
            case PROJECT -> below(container, ContainerKind.GROUP);
            case SUBJECT -> below(container, ContainerKind.PROJECT);
            case SESSION -> below(container, ContainerKind.SUBJECT);
            case ACQUISITION -> below(container, ContainerKind.SESSION);
            case ANALYSIS -> {
                JsonNode parent = container.object().path("parent");
                ContainerKind kind = ContainerKind.of(parent.path("type").asString(""))
                        .orElseThrow(() -> new NotRestored("flywheel.json does not state its parent"));
                yield "%s/analyses"
                        .formatted(kind.path(now(kind, parent.path("id").asString(""))));
            }
        };
    }

    private String below(SealedContainer container, ContainerKind above) throws NotRestored {
        return "%s/%s"
                .formatted(
                        above.path(now(above, container.above(above))),
                        container.kind().plural());
    }

    private String now(ContainerKind kind, String old) throws NotRestored {
        String id = now.get(old);
        if (id == null) {
            throw new NotRestored("its %s was not restored".formatted(kind.word()));
        }
        return id;
    }

    /** Returns what a new container refers to. */
    private Map<String, JsonNode> references(SealedContainer container) throws IOException, InterruptedException {
        JsonNodeFactory json = JsonNodeFactory.instance;
        return switch (container.kind()) {
            case GROUP -> Map.of();
            case PROJECT -> Map.of("group", reference(container, ContainerKind.GROUP));
            case SUBJECT -> Map.of("project", reference(container, ContainerKind.PROJECT));
            case SESSION ->
                Map.of(
                        "project",
                        reference(container, ContainerKind.PROJECT),
                        "subject",
                        json.objectNode().set("_id", reference(container, ContainerKind.SUBJECT)));
            case ACQUISITION -> Map.of("session", reference(container, ContainerKind.SESSION));
            case ANALYSIS -> Map.of("inputs", inputs(container));
        };
    }

    private JsonNode reference(SealedContainer container, ContainerKind above) throws NotRestored {
        return JsonNodeFactory.instance.stringNode(now(above, container.above(above)));
    }

    /** NB: an analysis gets inputs only when it is created, so that it waits until all of them are there. */
    private ArrayNode inputs(SealedContainer analysis) throws IOException, InterruptedException {
        ArrayNode inputs = JsonNodeFactory.instance.arrayNode();
        for (JsonNode input : analysis.object().path("inputs")) {
            JsonNode stated = input.has("parent_ref") ? input.path("parent_ref") : input;
            Optional<SealedContainer> holder = sealed.holder(input);
            ContainerKind kind = holder.map(SealedContainer::kind)
                    .or(() -> ContainerKind.of(stated.path("type").asString("")))
                    .orElseThrow(() -> new NotRestored("flywheel.json does not state where its inputs are"));
            String old =
                    holder.map(SealedContainer::id).orElse(stated.path("id").asString(""));
            String id = Optional.ofNullable(now.get(old))
                    .or(() -> ids.now(kind, old))
                    .orElse(old);
            String name = input.path("name").asString("");
            if (!isThere(kind.path(id), input)) {
                throw new NotRestored(
                        "an input of it, a file of %s %s, is not in Flywheel with its bytes; restore that first"
                                .formatted(kind.word(), old));
            }
            inputs.addObject().put("type", kind.word()).put("id", id).put("name", name);
        }
        return inputs;
    }

    /** Returns whether a container has a file with this name, and, as far as both have a hash, these bytes. */
    private boolean isThere(String container, JsonNode file) throws IOException, InterruptedException {
        String name = Writes.segment(file.path("name").asString(""));
        String hash = file.path("hash").asString("");
        return writes.find("%s/files/%s/info".formatted(container, name))
                .map(there -> there.path("hash").asString(""))
                .filter(theirs -> hash.isEmpty() || theirs.isEmpty() || theirs.equals(hash))
                .isPresent();
    }

    /** Returns the id of the container there; empty if it is to be created. */
    private Optional<String> find(SealedContainer container, String list) throws IOException, InterruptedException {
        ContainerKind kind = container.kind();
        Optional<String> before = ids.now(kind, container.id());
        for (String id : before.map(known -> List.of(known, container.id())).orElse(List.of(container.id()))) {
            if (!ids.isOfAnother(kind, id, container.id())
                    && writes.find(kind.path(id)).isPresent()) {
                return found(container, id);
            }
        }
        List<JsonNode> matches = writes.list(
                list,
                entry -> SealedContainer.label(entry).equals(SealedContainer.label(container.object()))
                        && !ids.isOfAnother(kind, entry.path("_id").asString(""), container.id())
                        && !contradicts(container.object(), entry));
        List<JsonNode> exact = matches.stream()
                .filter(entry -> uid(entry).equals(uid(container.object()))
                        && !uid(entry).isEmpty())
                .toList();
        List<JsonNode> left = exact.isEmpty() ? matches : exact;
        if (left.size() > 1) {
            throw new NotRestored(
                    "Flywheel has %d with this label, and none is known to be it; rename or remove the others"
                            .formatted(left.size()));
        }
        return left.isEmpty()
                ? Optional.empty()
                : found(container, checked(left.getFirst().path("_id").asString("")));
    }

    private Optional<String> found(SealedContainer container, String id) {
        ids.add(container.kind(), container.id(), id);
        return Optional.of(id);
    }

    /** Returns whether two with the same label were scanned at different times, or have different uids. */
    private static boolean contradicts(JsonNode ours, JsonNode theirs) {
        boolean otherUid =
                !uid(ours).isEmpty() && !uid(theirs).isEmpty() && !uid(ours).equals(uid(theirs));
        Optional<Instant> our = Description.time(ours.path("timestamp"));
        Optional<Instant> their = Description.time(theirs.path("timestamp"));
        return otherUid || (our.isPresent() && their.isPresent() && !our.equals(their));
    }

    private static String uid(JsonNode object) {
        return object.path("uid").asString("");
    }
}
