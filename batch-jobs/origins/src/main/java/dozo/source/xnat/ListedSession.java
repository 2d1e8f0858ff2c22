package dozo.source.xnat;

import static dozo.source.xnat.Resource.text;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.ListedFile;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What XNAT lists of an image session: the session with its scans, its subject, and the files of all resources of the
 * session, its scans, assessors and reconstructions. A resource that cannot be read becomes an item, and the rest is read.
 *
 * @param session as XNAT describes it; null if nothing of it can be read
 * @param subject null if it cannot be read
 * @param missing what cannot be read, each with its reason; its files are unknown
 * @param unread the ids of the resources that cannot be read
 */
public record ListedSession(
        String id,
        @Nullable JsonNode session,
        @Nullable JsonNode subject,
        List<Resource> resources,
        List<XnatFile> files,
        List<Item> missing,
        Set<String> unread) {

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    /**
     * Reads a session's lists without downloading files.
     *
     * @throws DeliveryException if the login is no longer accepted
     * @throws IllegalArgumentException if {@code id} is not an id
     */
    public static ListedSession of(Xnat xnat, String id) throws IOException, InterruptedException {
        try {
            return read(xnat, id);
        } catch (DeliveryException e) {
            if (Xnat.ENDS_ALL.contains(e.trouble())) {
                throw e;
            }
            Item unread = Item.of("session " + id, id, e);
            return new ListedSession(id, null, null, List.of(), List.of(), List.of(unread), Set.of());
        }
    }

    /**
     * Reads a session's lists.
     *
     * @throws DeliveryException if nothing of it can be read
     */
    static ListedSession read(Xnat xnat, String id) throws IOException, InterruptedException {
        if (!Xnat.isId(id)) {
            throw new IllegalArgumentException("no id: " + Xnat.shown(id));
        }
        String what = "session " + id;
        JsonNode session = Xnat.item(what, xnat.json(what, Xnat.path("experiments", id) + "?format=json"));
        if (!text(session.path("data_fields"), "ID").equals(id)) {
            throw new DeliveryException(Trouble.UNPARSED, what + ": XNAT returned another one");
        }
        Reading reading = new Reading(xnat, id);
        JsonNode subject = reading.subject(text(session.path("data_fields"), "subject_ID"));
        reading.files(session);
        return new ListedSession(
                id,
                session,
                subject,
                List.copyOf(reading.resources.values()),
                List.copyOf(reading.files),
                List.copyOf(reading.missing),
                Set.copyOf(reading.unread));
    }

    /** Returns its label; its id if nothing of it can be read. */
    public String label() {
        return session == null ? id : text(session.path("data_fields"), "label");
    }

    /** Returns the sum of the stated sizes. */
    public long bytes() {
        return ListedFile.bytes(files);
    }

    /** Returns how many files are listed. */
    public int count() {
        return files.size();
    }

    /** Returns whether all of it could be read. */
    boolean isWhole() {
        return missing.isEmpty();
    }

    /** A session that is being read. */
    private static final class Reading {

        private final Xnat xnat;
        private final String id;
        private final Map<String, Resource> resources = new LinkedHashMap<>();
        private final Map<String, XnatFile> known = new HashMap<>();
        private final List<XnatFile> files = new ArrayList<>();
        private final List<Item> missing = new ArrayList<>();
        private final Set<String> unread = new HashSet<>();

        Reading(Xnat xnat, String id) {
            this.xnat = xnat;
            this.id = id;
        }

        @Nullable
        JsonNode subject(String subject) throws IOException, InterruptedException {
            String what = "subject " + Xnat.shown(subject);
            try {
                if (!Xnat.isId(subject)) {
                    throw new DeliveryException(Trouble.UNPARSED, "the session has no valid subject_ID");
                }
                return Xnat.item(what, xnat.json(what, Xnat.path("subjects", subject) + "?format=json"));
            } catch (DeliveryException e) {
                missing(what, subject, e);
                return null;
            }
        }

        /**
         * Reads the files: all in one list, and by themselves those of resources that are not in it. NB: the list of all
         * files omits inputs, and fails as a whole if one catalogue cannot be read.
         */
        void files(JsonNode session) throws IOException, InterruptedException {
            Map<String, List<JsonNode>> listed = listed();
            String what = "resources of session " + id;
            for (JsonNode row : xnat.rows(what, Xnat.path("experiments", id, "resources") + "?all=true&format=json")) {
                add(resource(row, text(row, "category"), text(row, "cat_id"), false, text(row, "file_count")));
            }
            inputs(session);
            for (Resource resource : resources.values()) {
                List<JsonNode> rows = listed.remove(resource.id());
                if (rows == null && !Long.valueOf(0).equals(resource.files())) {
                    rows = alone(resource);
                }
                take(resource, rows == null ? List.of() : rows);
            }
            listed.forEach((resource, rows) -> missing.add(new Item(
                    "resource " + Xnat.shown(resource),
                    id,
                    Trouble.GONE,
                    "%d files of it are listed, but XNAT no longer lists the resource".formatted(rows.size()))));
        }

        private Map<String, List<JsonNode>> listed() throws IOException, InterruptedException {
            Map<String, List<JsonNode>> listed = new HashMap<>();
            try {
                String all = Xnat.path("experiments", id, "files") + "?all=true&format=json";
                for (JsonNode row : xnat.rows("files of session " + id, all)) {
                    listed.computeIfAbsent(text(row, "cat_ID"), _ -> new ArrayList<>())
                            .add(row);
                }
            } catch (DeliveryException e) {
                // Each resource is then read by itself, and named if that fails.
                if (Xnat.ENDS_ALL.contains(e.trouble())) {
                    throw e;
                }
            }
            return listed;
        }

        private void inputs(JsonNode session) {
            for (JsonNode level : session.path("children")) {
                String name = text(level, "field").startsWith("assessors/") ? "assessors" : "reconstructions";
                for (JsonNode holder : level.path("items")) {
                    for (JsonNode field : holder.path("children")) {
                        if (text(field, "field").equals("in/file")) {
                            String of = text(holder.path("data_fields"), "ID");
                            field.path("items")
                                    .forEach(input -> add(resource(input.path("data_fields"), name, of, true, "")));
                        }
                    }
                }
            }
        }

        private static Resource resource(JsonNode row, String level, String holder, boolean isInput, String count) {
            return new Resource(
                    text(row, "xnat_abstractresource_id"),
                    level,
                    level.equals("resources") ? "" : holder,
                    isInput,
                    text(row, "label"),
                    text(row, "format"),
                    text(row, "content"),
                    NUMBER.matcher(count).matches() ? Long.valueOf(count) : null);
        }

        private void add(Resource resource) {
            if (!NUMBER.matcher(resource.id()).matches() || !Resource.LEVELS.contains(resource.level())) {
                missing.add(new Item(
                        resource.shown(), id, Trouble.UNPARSED, "a resource without a number, or of an unknown level"));
            } else {
                resources.putIfAbsent(resource.id(), resource);
            }
        }

        /** Returns the rows of one resource's files; null if it cannot be read. */
        private @Nullable List<JsonNode> alone(Resource resource) throws IOException, InterruptedException {
            try {
                return xnat.rows(
                        resource.shown(),
                        Xnat.path("experiments", id, "resources", resource.id(), "files") + "?format=json");
            } catch (DeliveryException e) {
                missing(resource.shown(), resource.id(), e);
                unread.add(resource.id());
                return null;
            }
        }

        private void take(Resource resource, List<JsonNode> rows) {
            for (JsonNode row : rows) {
                XnatFile file = XnatFile.of(id, resource, XnatFile.path(resource.id(), row), row);
                String refusal = XnatFile.refusal(file.path());
                if (refusal != null) {
                    missing.add(file.item(Trouble.UNPARSED, refusal));
                } else if (known.putIfAbsent(file.id(), file) != null) {
                    missing.add(file.item(Trouble.UNPARSED, "the catalogue lists it twice"));
                } else {
                    files.add(file);
                }
            }
            Long stated = resource.files();
            if (stated != null && rows.size() < stated && !unread.contains(resource.id())) {
                missing.add(new Item(
                        resource.shown(),
                        resource.id(),
                        Trouble.COUNT_DIFFERS,
                        "XNAT counts %d files and lists %d: refresh its catalogue".formatted(stated, rows.size())));
            }
        }

        private void missing(String name, String of, DeliveryException e) throws DeliveryException {
            if (Xnat.ENDS_ALL.contains(e.trouble())) {
                throw e;
            }
            missing.add(Item.of(name, Xnat.isId(of) ? of : id, e));
        }
    }
}
