package dozo.source.flywheel;

import static java.nio.charset.StandardCharsets.UTF_8;

import dozo.file.FilePath;
import dozo.source.delivery.Delivered;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.ExactJson;
import dozo.source.delivery.ItemFolder;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What Flywheel says of an item and of the containers in and above it: the file {@code flywheel.json} in the item's
 * tree. Each container is as Flywheel returns it, without subjects' names and birth dates, and without fields that
 * change while the content does not. Equal answers give equal bytes. Files and permissions of the containers above a
 * session are in the project's own item.
 *
 * <p>Containers and files of the earlier {@code flywheel.json} that Flywheel no longer lists are kept under
 * {@code unlisted}. A container that cannot be read now stays as it was.
 */
final class Metadata {

    private static final Logger LOG = LoggerFactory.getLogger(Metadata.class);

    static final FilePath NAME = FilePath.of("flywheel.json");

    /** The limit of an item's metadata, which are in memory. */
    private static final long BYTES_MAX = 128L << 20;

    private static final Pattern LEFT_OUT =
            Pattern.compile("firstname|lastname|date_of_birth|stats|last_.*|avatars?|join-.*");

    /** Fields in which people and programs write what they want. */
    private static final Set<String> FREE = Set.of("info", "job", "gear_info", "metadata");

    /** What is kept of a container only because files in it are no longer listed. */
    private static final List<String> IDENTITY = List.of("_id", "container_type", "label", "files");

    static final JsonMapper JSON = ExactJson.MAPPER;

    private record Key(Level level, String id) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            return Comparator.comparing(Key::level).thenComparing(Key::id).compare(this, other);
        }
    }

    private final Level item;
    private final long bytesMax;
    private final NavigableMap<Key, byte[]> containers = new TreeMap<>();
    private final NavigableMap<Key, ObjectNode> unlisted = new TreeMap<>();
    private long bytes;

    /** @param item the level of the item: a session or a project */
    Metadata(Level item) {
        this(item, BYTES_MAX);
    }

    Metadata(Level item, long bytesMax) {
        this.item = item;
        this.bytesMax = bytesMax;
    }

    /**
     * Adds a container. Changes the node.
     *
     * @throws DeliveryException if the item's metadata exceed their limit
     */
    void add(Container container, JsonNode told) throws DeliveryException {
        ObjectNode node = (ObjectNode) told;
        Level level = container.level();
        strip(node);
        node.put("container_type", level.word());
        node.remove("analyses");
        if (level.isAbove(Level.SESSION)) {
            node.remove(List.of("modified", "revision"));
        }
        if (item == Level.SESSION && level.isAbove(item)) {
            node.remove("permissions");
        }
        if (node.get("files") instanceof ArrayNode files) {
            List<JsonNode> sorted = new ArrayList<>(files.values());
            sorted.removeIf(Answers::isDeleted);
            sorted.sort(Comparator.comparing(Metadata::fileId));
            files.removeAll().addAll(sorted);
        }
        byte[] json = JSON.writeValueAsBytes(node);
        bytes += json.length;
        if (bytes > bytesMax) {
            throw new DeliveryException(
                    Trouble.TOO_LARGE, "the metadata of this item exceed %d bytes".formatted(bytesMax));
        }
        containers.put(new Key(level, container.id()), json);
    }

    private static void strip(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.remove(object.propertyNames().stream()
                    .filter(name -> LEFT_OUT.matcher(name).matches())
                    .toList());
            object.properties().stream()
                    .filter(field -> !FREE.contains(field.getKey()))
                    .forEach(field -> strip(field.getValue()));
        } else {
            node.forEach(Metadata::strip);
        }
    }

    private static String fileId(JsonNode entry) {
        return entry.path("file_id").asString(entry.path("_id").asString(""));
    }

    /**
     * Writes the file after the item's files have been delivered. An unchanged file is not touched.
     *
     * @throws DeliveryException if the spool cannot be read or written
     */
    void write(ItemFolder home, ListedItem told) throws DeliveryException {
        Path earlier = home.at(NAME);
        if (Files.isRegularFile(earlier, LinkOption.NOFOLLOW_LINKS)) {
            Set<String> listed = told.files().stream().map(HeldFile::id).collect(Collectors.toSet());
            readEarlier(earlier, listed, told.missing().isEmpty());
        }
        home.replace(NAME, out -> {
            out.write("{\n\"containers\" : [".getBytes(UTF_8));
            print(containers.values().stream().map(JSON::readTree), home.delivered(), out);
            out.write("],\n\"format\" : \"dozo-flywheel-1\"".getBytes(UTF_8));
            if (!unlisted.isEmpty()) {
                out.write(",\n\"unlisted\" : [".getBytes(UTF_8));
                print(unlisted.values().stream(), home.delivered(), out);
                out.write(']');
            }
            out.write("\n}\n".getBytes(UTF_8));
        });
    }

    /** Reads the earlier file; what follows a damage in it counts as not there. */
    private void readEarlier(Path file, Set<String> listed, boolean whole) throws DeliveryException {
        try (JsonParser in = JSON.createParser(file)) {
            String section = "";
            for (JsonToken token = in.nextToken(); token != null; token = in.nextToken()) {
                if (token == JsonToken.PROPERTY_NAME) {
                    section = in.currentName();
                } else if (token == JsonToken.START_ARRAY) {
                    while (in.nextToken() == JsonToken.START_OBJECT) {
                        keep(in.readValueAsTree(), section.equals("containers"), listed, whole);
                    }
                }
            }
        } catch (JacksonIOException e) {
            throw DeliveryException.ofSpool(new IOException(e));
        } catch (JacksonException e) {
            LOG.warn("{} is damaged and is written anew: {}", file, e.getOriginalMessage());
        }
    }

    private void keep(ObjectNode old, boolean wasListed, Set<String> listed, boolean whole) {
        Level level = Level.of(old.path("container_type").asString("")).orElse(null);
        if (level == null) {
            return;
        }
        Key key = new Key(level, old.path("_id").asString(""));
        boolean isListed = containers.containsKey(key);
        boolean isUnread = !whole && wasListed && !isListed;
        if (level.isAbove(item)) {
            // The item has moved, or this could not be read.
            if (isUnread && containers.keySet().stream().noneMatch(other -> other.level() == level)) {
                containers.put(key, JSON.writeValueAsBytes(old));
            }
        } else if (isUnread) {
            containers.put(key, JSON.writeValueAsBytes(old));
        } else {
            ArrayNode files = old.get("files") instanceof ArrayNode some ? some : old.putArray("files");
            files.removeIf(file -> listed.contains(fileId(file)));
            if (isListed) {
                old.retain(IDENTITY);
            }
            if (!isListed || !files.isEmpty()) {
                unlisted.merge(key, old, Metadata::withFiles);
            }
        }
    }

    private static ObjectNode withFiles(ObjectNode container, ObjectNode more) {
        ((ArrayNode) container.get("files")).addAll((ArrayNode) more.get("files"));
        return container;
    }

    private static void print(Stream<? extends JsonNode> containers, Delivered delivered, OutputStream out)
            throws IOException {
        String between = "\n";
        for (Iterator<? extends JsonNode> all = containers.iterator(); all.hasNext(); between = ",\n") {
            JsonNode container = all.next();
            for (JsonNode file : container.path("files")) {
                setPath((ObjectNode) file, delivered);
            }
            out.write(between.getBytes(UTF_8));
            out.write(JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(container));
        }
    }

    /** NB: Flywheel's own field {@code path} is a place in its storage. */
    private static void setPath(ObjectNode file, Delivered delivered) throws IOException {
        String id = fileId(file);
        file.remove("path");
        Delivered.Entry place = delivered.of(id).orElse(null);
        String hash = file.path("hash").asString("");
        String mark = HeldFile.mark(file.path("version").asLong(1), hash.isEmpty() ? null : hash);
        if (place != null && delivered.has(id, mark)) {
            file.put("path", new String(place.path().bytes(), UTF_8));
        }
    }
}
