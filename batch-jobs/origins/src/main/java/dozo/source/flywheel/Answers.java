package dozo.source.flywheel;

import dozo.file.FilePath;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Extracts values from Flywheel's answers. */
final class Answers {

    /** Ids that are safe as part of a path. */
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,127}");

    private static final Pattern MODALITY = Pattern.compile("[A-Z0-9_]{1,16}");
    private static final int TEXT_LENGTH_MAX = 4_096;

    private Answers() {}

    /** Returns a list's entries: a bare array, or the results of a page. */
    static List<JsonNode> entries(String path, JsonNode answer) throws DeliveryException {
        JsonNode array = answer.isArray() ? answer : answer.path("results");
        if (!array.isArray()) {
            throw new DeliveryException(Trouble.UNPARSED, path + ": no list in the answer");
        }
        List<JsonNode> entries = new ArrayList<>(array.size());
        array.forEach(entries::add);
        return entries;
    }

    static Container container(Level level, JsonNode node) throws DeliveryException {
        JsonNode parents = node.path("parents");
        String id = id(node, "_id");
        String project = reference(parents.path("project"));
        String subject = reference(parents.path("subject"));
        String group = reference(parents.path("group"));
        return new Container(
                level,
                id,
                text(node, "label"),
                group == null ? reference(node.path("group")) : group,
                project == null ? reference(node.path("project")) : project,
                subject == null ? reference(node.path("subject").path("_id")) : subject,
                day(node),
                time(node.path("modified")));
    }

    /** Returns the files of a container that was requested by its id; lists may omit files. */
    static List<HeldFile> files(Container container, JsonNode node) throws DeliveryException {
        List<HeldFile> files = new ArrayList<>();
        for (JsonNode entry : node.path("files")) {
            if (!isDeleted(entry)) {
                files.add(file(container, entry));
            }
        }
        return files;
    }

    static boolean isDeleted(JsonNode entry) {
        return entry.path("deleted").isString();
    }

    static HeldFile file(Container container, JsonNode entry) throws DeliveryException {
        String name = text(entry, "name");
        if (name.isEmpty()) {
            throw new DeliveryException(Trouble.UNPARSED, "a file without a name in " + container.id());
        }
        JsonNode size = entry.path("size");
        boolean sizeKnown = size.isIntegralNumber() && size.canConvertToLong() && size.longValue() >= 0;
        String hash = entry.path("hash").asString("");
        return new HeldFile(
                container,
                id(entry, entry.path("file_id").isString() ? "file_id" : "_id"),
                name,
                entry.path("version").asLong(1),
                sizeKnown ? size.longValue() : -1,
                hash.isEmpty() ? null : hash,
                modality(entry.path("modality").asString("")));
    }

    private static @Nullable String modality(String text) {
        return MODALITY.matcher(text).matches() ? text : null;
    }

    /** Returns the text as it is shown to people. */
    static String shown(String text) {
        return FilePath.render(text.getBytes(StandardCharsets.UTF_8));
    }

    static void checkId(String id) {
        if (!ID.matcher(id).matches()) {
            throw new IllegalArgumentException("no id: " + shown(id));
        }
    }

    static String id(JsonNode node, String field) throws DeliveryException {
        String id = node.path(field).asString("");
        if (!ID.matcher(id).matches()) {
            throw new DeliveryException(Trouble.UNPARSED, "an entry without a valid " + field);
        }
        return id;
    }

    static @Nullable String reference(JsonNode node) {
        String id = node.asString("");
        return ID.matcher(id).matches() ? id : null;
    }

    static @Nullable Instant time(JsonNode node) {
        try {
            return OffsetDateTime.parse(node.asString("")).toInstant();
        } catch (DateTimeException e) {
            return null;
        }
    }

    /**
     * Returns the day of a scan in its own time zone, or by the written offset if no zone is stated; null if the time
     * or the zone is not known here.
     */
    private static @Nullable LocalDate day(JsonNode node) {
        try {
            OffsetDateTime at = OffsetDateTime.parse(node.path("timestamp").asString(""));
            String zone = node.path("timezone").asString("");
            return zone.isEmpty()
                    ? at.toLocalDate()
                    : at.atZoneSameInstant(ZoneId.of(zone)).toLocalDate();
        } catch (DateTimeException e) {
            return null;
        }
    }

    private static String text(JsonNode node, String field) throws DeliveryException {
        String text = node.path(field).asString("");
        if (text.length() > TEXT_LENGTH_MAX) {
            throw new DeliveryException(
                    Trouble.TOO_LARGE, "a %s with more than %d characters".formatted(field, TEXT_LENGTH_MAX));
        }
        return text;
    }
}
