package dozo.source.xnat;

import dozo.file.FilePath;
import dozo.source.delivery.Delivered;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.ExactJson;
import dozo.source.delivery.ItemFolder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What XNAT says of a session, its subject and its resources: the file {@code xnat.json} in the session's tree, without the
 * patient's name and date of birth, and without the subject's other sessions. Equal answers give equal bytes. What cannot
 * be read now stays as it was.
 */
final class Metadata {

    private static final Logger LOG = LoggerFactory.getLogger(Metadata.class);

    static final FilePath NAME = FilePath.of("xnat.json");

    private static final Set<String> LEFT_OUT = Set.of("dcmPatientName", "dcmPatientBirthDate", "patientName", "dob");
    private static final Set<String> OF_SUBJECT = Set.of("demographics", "metadata", "addID", "fields/field");

    private Metadata() {}

    /**
     * Writes the file after the session's files have been delivered. An unchanged file is not touched.
     *
     * @throws DeliveryException if the spool cannot be read or written
     */
    static void write(ItemFolder home, ListedSession told, JsonNode session) throws DeliveryException {
        JsonNode earlier = told.isWhole() ? MissingNode.getInstance() : earlier(home.at(NAME));
        ObjectNode whole = JsonNodeFactory.instance.objectNode().put("format", "dozo-xnat-1");
        whole.set("session", sorted(session));
        JsonNode subject = told.subject() == null ? earlier.path("subject") : subject(told.subject());
        if (subject.isObject()) {
            whole.set("subject", subject);
        }
        try {
            whole.set("resources", resources(home.delivered(), told, earlier.path("resources")));
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
        home.replace(NAME, out -> {
            out.write(ExactJson.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(whole));
            out.write('\n');
        });
    }

    private static JsonNode earlier(Path file) throws DeliveryException {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return MissingNode.getInstance();
        }
        try {
            return ExactJson.MAPPER.readTree(Files.readAllBytes(file));
        } catch (JacksonException e) {
            LOG.warn("{} is damaged and is written anew: {}", file, e.getOriginalMessage());
            return MissingNode.getInstance();
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
    }

    private static JsonNode subject(JsonNode told) {
        ObjectNode subject = (ObjectNode) sorted(told);
        if (subject.get("children") instanceof ArrayNode children) {
            children.removeIf(child -> !OF_SUBJECT.contains(Resource.text(child, "field")));
        }
        return subject;
    }

    /** Returns a copy whose lists have an order, without what is left out. NB: XNAT's lists have none. */
    private static JsonNode sorted(JsonNode told) {
        return switch (told) {
            case ObjectNode object -> {
                ObjectNode kept = JsonNodeFactory.instance.objectNode();
                object.properties().stream()
                        .filter(field -> !LEFT_OUT.contains(field.getKey()))
                        .forEach(field -> kept.set(field.getKey(), sorted(field.getValue())));
                yield kept;
            }
            case ArrayNode array -> {
                List<JsonNode> all = new ArrayList<>();
                array.forEach(each -> all.add(sorted(each)));
                all.sort(Comparator.comparing(ExactJson.MAPPER::writeValueAsString));
                yield JsonNodeFactory.instance.arrayNode().addAll(all);
            }
            default -> told;
        };
    }

    private static ArrayNode resources(Delivered delivered, ListedSession told, JsonNode earlier) throws IOException {
        Map<String, ObjectNode> byId = new HashMap<>();
        for (Resource resource : told.resources()) {
            ObjectNode described = resource.described();
            described.putArray("files");
            byId.put(resource.id(), described);
        }
        for (XnatFile file : told.files()) {
            ObjectNode described = file.described();
            Delivered.Entry place = delivered.of(file.id()).orElse(null);
            if (place != null && delivered.has(file.id(), file.mark())) {
                described.put("path", new String(place.path().bytes(), StandardCharsets.UTF_8));
            }
            Objects.requireNonNull(byId.get(file.resource().id()))
                    .withArrayProperty("files")
                    .add(described);
        }
        for (JsonNode resource : earlier) {
            String id = Resource.text(resource, "id");
            if (told.unread().contains(id)) {
                byId.put(id, (ObjectNode) resource);
            }
        }
        ArrayNode sorted = JsonNodeFactory.instance.arrayNode();
        byId.values().stream()
                .sorted(Comparator.comparing(resource -> Resource.text(resource, "id")))
                .forEach(resource -> sorted.add(sorted(resource)));
        return sorted;
    }
}
