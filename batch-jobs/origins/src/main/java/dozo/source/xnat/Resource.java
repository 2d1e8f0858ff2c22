package dozo.source.xnat;

import dozo.file.FilePath;
import dozo.source.delivery.SpoolName;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A folder of files in a session.
 *
 * @param id XNAT's number of it, unique in all of XNAT
 * @param level {@code resources} for the session's own, else {@code scans}, {@code assessors} or {@code reconstructions}
 * @param holder the id of its scan, assessor or reconstruction; empty for the session's own
 * @param isInput whether its files are inputs of an assessor or reconstruction
 * @param label its name; may be empty
 * @param files how many files it has; null if not stated
 */
record Resource(
        String id,
        String level,
        String holder,
        boolean isInput,
        String label,
        String format,
        String content,
        @Nullable Long files) {

    static final Set<String> LEVELS = Set.of("resources", "scans", "assessors", "reconstructions");

    /** Returns the folder of its files in a tree. The number makes it unique, whatever the labels contain. */
    FilePath folder() {
        FilePath above = FilePath.of(level);
        return (holder.isEmpty() ? above : above.resolve(SpoolName.file(holder, id)))
                .resolve(SpoolName.folder(label, id));
    }

    /** Returns its place and label for people. */
    String shown() {
        String named = holder.isEmpty() ? level : "%s %s".formatted(level, Xnat.shown(holder));
        return "%s, resource %s".formatted(named, Xnat.shown(label));
    }

    /** Returns what describes it, without its files. */
    ObjectNode described() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("id", id)
                .put("level", level)
                .put("holder", holder)
                .put("input", isInput)
                .put("label", label)
                .put("format", format)
                .put("content", content);
    }

    static String text(JsonNode node, String field) {
        return node.path(field).asString("");
    }
}
