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

/** The metadata of a session or project, as nights collect it into the file {@code flywheel.json} of its tree. */
final class FlywheelJson {

    static final FilePath PLACE = FilePath.of("flywheel.json");

    private static final String FORMAT = "dozo-flywheel-1";
    private static final String ID = "[A-Za-z0-9][A-Za-z0-9_.-]{0,127}";

    private final List<SealedContainer> containers = new ArrayList<>();
    private final Set<FilePath> places = new HashSet<>();

    /** The containers of files, by the files' ids. */
    private final Map<String, SealedContainer> holders = new HashMap<>();

    private FlywheelJson() {}

    /**
     * Reads it from a site and proves its bytes.
     *
     * @throws IOException if the manifest has none, or it cannot be read
     */
    static FlywheelJson read(ManifestPart part, ProvenRead site) throws IOException, InterruptedException {
        return of(SealedFile.read(
                part,
                site,
                PLACE,
                "the group, project, subject and labels are unknown:"
                        + " restore it into a folder, and upload the files with Flywheel's own client"));
    }

    static FlywheelJson of(byte[] bytes) throws IOException {
        FlywheelJson read = new FlywheelJson();
        try {
            JsonNode whole = new JsonMapper().readTree(bytes);
            String format = whole.path("format").asString("");
            if (!format.equals(FORMAT)) {
                throw new IOException("flywheel.json has the format \"%s\"; expected %s"
                        .formatted(FilePath.render(format.getBytes(StandardCharsets.UTF_8)), FORMAT));
            }
            for (JsonNode container : whole.path("containers")) {
                read.add(container);
            }
        } catch (JacksonException | IllegalArgumentException e) {
            throw new IOException("flywheel.json cannot be read: its JSON is not valid", e);
        }
        return read;
    }

    private void add(JsonNode object) {
        ContainerKind kind = ContainerKind.of(object.path("container_type").asString(""))
                .orElseThrow(() -> new IllegalArgumentException("unknown container_type"));
        SealedContainer container = new SealedContainer(kind, object.path("_id").asString(""), object);
        if (!container.id().matches(ID)) {
            throw new IllegalArgumentException("a container without a valid _id");
        }
        containers.add(container);
        for (JsonNode file : object.path("files")) {
            FilePath place = SealedContainer.place(file);
            if (place != null) {
                places.add(place);
            }
            holders.put(id(file), container);
        }
    }

    private static String id(JsonNode file) {
        return file.path("file_id").asString(file.path("_id").asString(""));
    }

    /** Returns the containers. Each comes after those above it, analyses after everything else. */
    List<SealedContainer> containers() {
        return containers;
    }

    /** Returns whether it describes the file with this path in the tree. */
    boolean names(FilePath path) {
        return places.contains(path);
    }

    /** Returns whether the tree has the files of a container: a session's tree has none of those above it. */
    boolean hasFilesOf(SealedContainer container) {
        return container.kind().compareTo(ContainerKind.SESSION) >= 0
                || containers.stream().noneMatch(each -> each.kind() == ContainerKind.SESSION);
    }

    /** Returns the container of a file. */
    Optional<SealedContainer> holder(JsonNode file) {
        return Optional.ofNullable(holders.get(id(file)));
    }
}
