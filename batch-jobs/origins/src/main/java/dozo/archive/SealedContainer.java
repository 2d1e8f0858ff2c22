package dozo.archive;

import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A container as Flywheel described it when it was collected.
 *
 * @param id the one it had
 */
record SealedContainer(ContainerKind kind, String id, JsonNode object) {

    /** Returns its label; of subjects of older Flywheels, their code. */
    static String label(JsonNode object) {
        String label = object.path("label").asString("");
        return label.isEmpty() ? object.path("code").asString("") : label;
    }

    /** Returns its kind and label for people. */
    String shown() {
        return "%s %s".formatted(kind.word(), FilePath.render(label(object).getBytes(StandardCharsets.UTF_8)));
    }

    /** Returns the id of a container above it; empty if it is not stated. */
    String above(ContainerKind above) {
        JsonNode stated = object.path("parents").path(above.word());
        JsonNode own = object.path(above.word());
        return stated.asString(own.isObject() ? own.path("_id").asString("") : own.asString(""));
    }

    /** Returns the path of a file in the tree; null if it was never delivered. */
    static @Nullable FilePath place(JsonNode file) {
        String path = file.path("path").asString("");
        return path.isEmpty() ? null : FilePath.of(path);
    }
}
