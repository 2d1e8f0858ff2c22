package dozo.source.flywheel;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * What of a session lies in its tree, and where, kept beside the tree in {@code delivered.json}. A path is given once: who renames
 * a label or a file in Flywheel moves nothing here. Should this be lost, what lies there is compared with Flywheel's hashes.
 */
final class Delivered {

    private static final String NAME = "delivered.json";
    private static final String FILES = "files";
    private static final String FOLDERS = "folders";
    private static final JsonMapper JSON = new JsonMapper();

    private final Path home;
    private final Map<String, Place> files = new TreeMap<>();
    private final Map<String, FilePath> folders = new TreeMap<>();
    private final Map<FilePath, String> taken = new HashMap<>();
    private boolean changed;

    /** Where a file lies, and what it was when it came. */
    record Place(
            FilePath path,
            long version,
            long sizeBytes,
            @Nullable String hash) {

        boolean isOf(HeldFile file) {
            return version == file.version() && Objects.equals(hash, file.hash());
        }
    }

    private Delivered(Path home) {
        this.home = home;
    }

    /** Nothing, where nothing is written down or it cannot be read as such: then the tree itself is asked. */
    static Delivered in(Path home) throws IOException {
        Delivered delivered = new Delivered(home);
        Path file = home.resolve(NAME);
        if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            try {
                delivered.fill(JSON.readTree(Files.readAllBytes(file)));
            } catch (JacksonException | IllegalArgumentException e) {
                return new Delivered(home);
            }
        }
        return delivered;
    }

    private void fill(JsonNode node) {
        for (Map.Entry<String, JsonNode> folder : node.path(FOLDERS).properties()) {
            folders.put(folder.getKey(), FilePath.of(folder.getValue().asString()));
        }
        for (Map.Entry<String, JsonNode> file : node.path(FILES).properties()) {
            JsonNode told = file.getValue();
            FilePath path = FilePath.of(told.path("path").asString());
            files.put(
                    file.getKey(),
                    new Place(
                            path,
                            told.path("version").asLong(),
                            told.path("size").asLong(),
                            told.hasNonNull("hash") ? told.path("hash").asString() : null));
            taken.put(path, file.getKey());
        }
    }

    /** Where the file lies or is to lie, below the tree: the same for ever. */
    FilePath path(HeldFile file) {
        Place known = files.get(file.id());
        if (known != null) {
            return known.path();
        }
        FilePath folder = folder(file.container());
        FilePath path = folder.resolve(SpoolName.file(file.name(), file.id()));
        String owner = taken.get(path);
        if (owner != null && !owner.equals(file.id())) {
            path = folder.resolve(SpoolName.twin(file.name(), file.id()));
        }
        taken.put(path, file.id());
        return path;
    }

    private FilePath folder(Container container) {
        if (container.level() == Level.SESSION) {
            return FilePath.of("files");
        }
        return folders.computeIfAbsent(
                container.id(),
                id -> FilePath.of(container.level().plural()).resolve(SpoolName.folder(container.label(), id)));
    }

    /** Whether this version of it lies there. NB: its bytes were compared when it came; here only its size is. */
    boolean has(HeldFile file, Path end) throws IOException {
        Place place = files.get(file.id());
        return place != null
                && place.isOf(file)
                && Files.isRegularFile(end, LinkOption.NOFOLLOW_LINKS)
                && Files.size(end) == place.sizeBytes();
    }

    void add(HeldFile file, FilePath path, long sizeBytes) {
        files.put(file.id(), new Place(path, file.version(), sizeBytes, file.hash()));
        changed = true;
    }

    /** Those that lie here and are not among these, by id. */
    Map<String, FilePath> besides(Collection<HeldFile> told) {
        Set<String> ids = new HashSet<>();
        told.forEach(file -> ids.add(file.id()));
        Map<String, FilePath> besides = new TreeMap<>();
        files.forEach((id, place) -> {
            if (!ids.contains(id)) {
                besides.put(id, place.path());
            }
        });
        return besides;
    }

    /** Writes it down, if there is anything new: all of it or nothing. */
    void save() throws IOException {
        if (!changed) {
            return;
        }
        ObjectNode node = JSON.createObjectNode();
        ObjectNode toldFolders = node.putObject(FOLDERS);
        folders.forEach((id, path) -> toldFolders.put(id, text(path)));
        ObjectNode toldFiles = node.putObject(FILES);
        files.forEach((id, place) -> toldFiles
                .putObject(id)
                .put("path", text(place.path()))
                .put("version", place.version())
                .put("size", place.sizeBytes())
                .put("hash", place.hash()));
        Path part = home.resolve(NAME + ".part");
        Files.write(part, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(node));
        Files.move(part, home.resolve(NAME), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        changed = false;
    }

    /** Made of UTF-8 by ourselves, so nothing of it is lost. */
    private static String text(FilePath path) {
        return new String(path.bytes(), StandardCharsets.UTF_8);
    }
}
