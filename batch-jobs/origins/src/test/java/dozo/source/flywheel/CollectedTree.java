package dozo.source.flywheel;

import dozo.source.delivery.SpoolName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Trees of sessions and projects as nights collect them, with {@code flywheel.json}. */
public final class CollectedTree {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(SerializationFeature.INDENT_OUTPUT, SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();
    private static final Set<String> OF_SESSIONS = Set.of("session", "acquisition", "analysis");

    private CollectedTree() {}

    /** Writes all containers of an emulator that has one session, with the files of the session and what is below. */
    public static void ofSession(WrittenContent content, Path folder) throws IOException {
        write(content, folder, kind -> true, OF_SESSIONS::contains);
    }

    /** Writes the project and its subjects, with their files. */
    public static void ofProject(WrittenContent content, Path folder) throws IOException {
        write(content, folder, kind -> !OF_SESSIONS.contains(kind), kind -> true);
    }

    private static void write(
            WrittenContent content, Path folder, Predicate<String> wanted, Predicate<String> delivered)
            throws IOException {
        ObjectNode whole = JSON.createObjectNode().put("format", "dozo-flywheel-1");
        ArrayNode containers = whole.putArray("containers");
        for (ObjectNode container : content.everything()) {
            String kind = container.path("container_type").asString();
            if (wanted.test(kind)) {
                containers.add(container);
                if (delivered.test(kind)) {
                    files(content, container, kind, folder);
                }
            }
        }
        Files.createDirectories(folder);
        Files.write(folder.resolve("flywheel.json"), JSON.writeValueAsBytes(whole));
    }

    private static void files(WrittenContent content, ObjectNode container, String kind, Path folder)
            throws IOException {
        String id = container.path("_id").asString();
        String below = kind.equals("session")
                ? "files"
                : "%s/%s"
                        .formatted(
                                kind.equals("analysis") ? "analyses" : kind + "s",
                                SpoolName.folder(container.path("label").asString(), id));
        for (JsonNode file : container.path("files")) {
            String path = below + "/"
                    + SpoolName.file(
                            file.path("name").asString(), file.path("file_id").asString());
            ((ObjectNode) file).put("path", path);
            Path place = folder.resolve(path);
            Files.createDirectories(place.getParent());
            Files.write(place, content.bytes(id, file.path("name").asString()));
        }
    }

    /** Returns what a client could set of all containers: without ids, times of records and versions. */
    public static List<String> shown(WrittenContent content) {
        return content.everything().stream().map(CollectedTree::shown).sorted().toList();
    }

    private static String shown(ObjectNode container) {
        ObjectNode shown = container.deepCopy();
        shown.remove(List.of("_id", "parents", "parent", "project", "subject", "session", "group"));
        for (JsonNode list : List.of(shown.path("files"), shown.path("inputs"))) {
            list.forEach(file -> ((ObjectNode) file).remove(List.of("_id", "file_id", "version", "parent_ref")));
        }
        List<JsonNode> files = shown.path("files")
                .valueStream()
                .sorted(Comparator.comparing(file -> file.path("name").asString()))
                .toList();
        shown.putArray("files").addAll(files);
        shown.path("notes").forEach(note -> {
            String text = note.path("text").asString().replaceFirst("(?s)^\\[\\S* \\S*] ", "");
            ((ObjectNode) note).put("text", text).remove("_id");
        });
        return JSON.writeValueAsString(JSON.treeToValue(shown, Object.class));
    }
}
