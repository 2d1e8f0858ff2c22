package dozo.archive;

import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The metadata of an image session, as nights collect it into the file {@code xnat.json} of its tree.
 *
 * @param session as XNAT described it
 * @param holders its scans, assessors and reconstructions
 * @param places the paths in the tree of the files that it describes
 */
record XnatJson(
        JsonNode session, JsonNode subject, List<Holder> holders, List<JsonNode> resources, Set<FilePath> places) {

    static final FilePath PLACE = FilePath.of("xnat.json");

    private static final String FORMAT = "dozo-xnat-1";

    /** The fields of lists in a session's document, by the name of the level in paths. */
    private static final Map<String, String> LEVELS = Map.of(
            "scans/scan", "scans",
            "assessors/assessor", "assessors",
            "reconstructions/reconstructedImage", "reconstructions");

    /**
     * A scan, assessor or reconstruction.
     *
     * @param id the one that it had
     * @param name what it is called in a path: the label of an assessor, whose id is XNAT's
     */
    record Holder(String level, String id, String name, JsonNode item) {

        String shown() {
            return "%s %s".formatted(level, XnatJson.shown(name));
        }
    }

    /**
     * Reads it from a site and proves its bytes.
     *
     * @throws IOException if the manifest has none, or it cannot be read
     */
    static XnatJson read(ManifestPart part, ProvenRead site) throws IOException, InterruptedException {
        return of(SealedFile.read(
                part,
                site,
                PLACE,
                "the project, subject and labels are unknown:"
                        + " restore it into a folder, and upload the files with XNAT's own tools"));
    }

    static XnatJson of(byte[] bytes) throws IOException {
        try {
            JsonNode whole = new JsonMapper().readTree(bytes);
            String format = text(whole, "format");
            if (!format.equals(FORMAT)) {
                throw new IOException("xnat.json has the format \"%s\"; expected %s".formatted(shown(format), FORMAT));
            }
            List<JsonNode> resources = new ArrayList<>();
            Set<FilePath> places = new HashSet<>();
            for (JsonNode resource : whole.path("resources")) {
                resources.add(resource);
                for (JsonNode file : resource.path("files")) {
                    place(file).ifPresent(places::add);
                }
            }
            return new XnatJson(
                    whole.path("session"), whole.path("subject"), holders(whole.path("session")), resources, places);
        } catch (JacksonException | IllegalArgumentException e) {
            throw new IOException("xnat.json cannot be read: its JSON is not valid", e);
        }
    }

    private static List<Holder> holders(JsonNode session) {
        Map<String, Holder> holders = new HashMap<>();
        for (JsonNode child : session.path("children")) {
            String level = LEVELS.get(text(child, "field"));
            if (level != null) {
                for (JsonNode item : child.path("items")) {
                    String id = field(item, "ID");
                    String label = level.equals("assessors") ? field(item, "label") : "";
                    holders.put(level + " " + id, new Holder(level, id, label.isEmpty() ? id : label, item));
                }
            }
        }
        return List.copyOf(holders.values());
    }

    /** Returns the path of a file in the tree; empty if it was never delivered. */
    static Optional<FilePath> place(JsonNode file) {
        String path = text(file, "path");
        return path.isEmpty() ? Optional.empty() : Optional.of(FilePath.of(path));
    }

    static String text(JsonNode node, String field) {
        return node.path(field).asString("");
    }

    /** Returns a field of an item; empty if it has none. */
    static String field(JsonNode item, String field) {
        return text(item.path("data_fields"), field);
    }

    static String type(JsonNode item) {
        return text(item.path("meta"), "xsi:type");
    }

    static String shown(String text) {
        return FilePath.render(text.getBytes(StandardCharsets.UTF_8));
    }
}
