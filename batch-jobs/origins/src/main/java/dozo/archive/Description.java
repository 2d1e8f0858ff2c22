package dozo.archive;

import dozo.source.delivery.Connections.Attempt;
import dozo.source.delivery.DeliveryException;
import dozo.source.flywheel.Writes;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * What describes a container or a file: its fields, {@code info}, {@code classification}, tags and notes. What is empty in
 * Flywheel is set; what differs there stays, unless it may be overwritten. Tags and notes are added, and none is removed.
 *
 * @param path of the container or file below {@code /api}
 * @param fields that are set by changing it
 * @param look returns it as Flywheel has it
 * @param overwrites whether differing values are replaced
 */
record Description(
        Writes writes, String path, JsonNode sealed, List<String> fields, Attempt<JsonNode> look, boolean overwrites) {

    private static final String INFO = "info";
    private static final String CLASSIFICATION = "classification";
    private static final String TAGS = "tags";
    private static final String NOTES = "notes";

    /** Of a restored note: its time and author come before its text, because Flywheel sets its own. */
    private static final String NOTED = "(?s)\\[\\d{4}-\\d\\d-\\d\\dT\\S+ \\S*] .*";

    /** NB: Flywheel keeps milliseconds, and may write a number in another form. */
    private static final Comparator<JsonNode> SAME = (one, other) -> one.isNumber() && other.isNumber()
            ? one.decimalValue().compareTo(other.decimalValue())
            : isEqual(one, other);

    private static int isEqual(JsonNode one, JsonNode other) {
        return one.equals(other) ? 0 : 1;
    }

    /**
     * Writes what is missing, and looks again.
     *
     * @return the names of what differs then
     */
    Set<String> bring() throws IOException, InterruptedException {
        JsonNode there = look.once();
        Set<String> differing = differing(there);
        Set<String> writable = differing.stream()
                .filter(name -> overwrites || name.equals(TAGS) || name.equals(NOTES) || isEmpty(there.path(name)))
                .collect(Collectors.toCollection(TreeSet::new));
        // A session's uid is given when it is created; Flywheel changes no other.
        if (path.startsWith("/sessions/") && !path.contains("/files/")) {
            writable.remove("uid");
        }
        if (writable.isEmpty()) {
            return differing;
        }
        write(writable, there);
        return differing(look.once());
    }

    private Set<String> differing(JsonNode there) {
        Set<String> differing = new TreeSet<>();
        for (String field : fields) {
            if (!isKept(field, there)) {
                differing.add(field);
            }
        }
        for (String field : List.of(INFO, CLASSIFICATION)) {
            if (!isKept(field, there)) {
                differing.add(field);
            }
        }
        if (!missingTags(there).isEmpty()) {
            differing.add(TAGS);
        }
        if (!missingNotes(there).isEmpty()) {
            differing.add(NOTES);
        }
        return differing;
    }

    private boolean isKept(String field, JsonNode there) {
        JsonNode ours = sealed.path(field);
        JsonNode theirs = there.path(field);
        return isEmpty(ours)
                || (field.equals("timestamp") ? time(ours).equals(time(theirs)) : ours.equals(SAME, theirs));
    }

    private static boolean isEmpty(JsonNode node) {
        return node.isMissingNode()
                || node.isNull()
                || (node.isString() ? node.asString().isEmpty() : node.isContainer() && node.isEmpty());
    }

    /** Returns a time in milliseconds, as Flywheel keeps it. */
    static Optional<Instant> time(JsonNode node) {
        try {
            return Optional.of(
                    OffsetDateTime.parse(node.asString("")).toInstant().truncatedTo(ChronoUnit.MILLIS));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    private List<String> missingTags(JsonNode there) {
        return missing(texts(sealed.path(TAGS), ""), texts(there.path(TAGS), ""));
    }

    private List<String> missingNotes(JsonNode there) {
        List<String> theirs = texts(there.path(NOTES), "text");
        List<String> missing = new ArrayList<>();
        for (JsonNode note : sealed.path(NOTES)) {
            String text = note.path("text").asString("");
            if (!theirs.contains(text) && !theirs.contains(restored(note)) && !text.isEmpty()) {
                missing.add(restored(note));
            }
        }
        return missing;
    }

    private static String restored(JsonNode note) {
        String text = note.path("text").asString("");
        return text.matches(NOTED)
                ? text
                : "[%s %s] %s"
                        .formatted(
                                note.path("created").asString(""),
                                note.path("user").asString(""),
                                text);
    }

    private static List<String> missing(List<String> ours, List<String> theirs) {
        return ours.stream().filter(each -> !theirs.contains(each)).toList();
    }

    private static List<String> texts(JsonNode array, String field) {
        List<String> texts = new ArrayList<>();
        array.forEach(each -> texts.add((field.isEmpty() ? each : each.path(field)).asString("")));
        return texts;
    }

    private void write(Set<String> names, JsonNode there) throws IOException, InterruptedException {
        ObjectNode changed = JsonNodeFactory.instance.objectNode();
        fields.stream().filter(names::contains).forEach(field -> changed.set(field, sealed.path(field)));
        if (!changed.isEmpty()) {
            writes.repeat("PUT", path, changed);
        }
        if (names.contains(INFO)) {
            writes.repeat("PATCH", path + "/info", replaced(INFO));
        }
        if (names.contains(CLASSIFICATION)) {
            ObjectNode wanted = replaced(CLASSIFICATION);
            if (!isEmpty(sealed.path("modality"))) {
                wanted.set("modality", sealed.path("modality"));
            }
            writes.repeat("PATCH", path + "/classification", wanted);
        }
        for (String tag : names.contains(TAGS) ? missingTags(there) : List.<String>of()) {
            add("a tag", this::missingTags, tag, () -> addTag(tag, there));
        }
        for (String note : names.contains(NOTES) ? missingNotes(there) : List.<String>of()) {
            add("a note", this::missingNotes, note, () -> writes.send("POST", path + "/notes", text("text", note)));
        }
    }

    private interface Missing {
        List<String> of(JsonNode there);
    }

    private void add(String what, Missing missing, String text, Attempt<?> write)
            throws IOException, InterruptedException {
        boolean _ = writes.ensure(
                what, () -> missing.of(look.once()).contains(text) ? Optional.empty() : Optional.of(true), write);
    }

    /** NB: a file's tags are reached by the file's id only. */
    private JsonNode addTag(String tag, JsonNode there) throws DeliveryException, IOException, InterruptedException {
        String file = there.path("file_id").asString("");
        return file.isEmpty()
                ? writes.send("POST", path + "/tags", text("value", tag))
                : writes.send(
                        "PATCH",
                        "/files/%s/tags".formatted(Writes.segment(file)),
                        JsonNodeFactory.instance.arrayNode().add(tag));
    }

    private ObjectNode replaced(String field) {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.set("replace", sealed.path(field));
        return body;
    }

    private static ObjectNode text(String field, String text) {
        return JsonNodeFactory.instance.objectNode().put(field, text);
    }
}
