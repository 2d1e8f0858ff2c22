package dozo.source.flywheel;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Lists all sessions and projects and finds those that changed since the last look. All of them are listed, 250 per
 * request; of their content, only what Flywheel reports as modified. Memory grows with the sessions: a few hundred bytes
 * each.
 */
public final class Changes {

    /** How far a look overlaps with the last one: changes written while it listed may have been missed. */
    public static final Duration OVERLAP = Duration.ofMinutes(10);

    private final Flywheel flywheel;

    /**
     * The result of a look.
     *
     * @param sessions all sessions that the key's user may see, by id. NB: one that is not listed may be deleted,
     * moved, or hidden
     * @param projects all projects that the key's user may see, by id
     * @param changed ids of sessions and projects with changes. NB: a change of a project or group does not make its
     * sessions changed, a change of a subject does
     * @param newest where the next look starts; null as long as Flywheel has stated no time
     * @param missing failed requests; if there are any, {@code changed} may be incomplete
     * @param remarks sessions with the same label as another
     */
    public record Seen(
            Map<String, Container> sessions,
            Map<String, Container> projects,
            Set<String> changed,
            @Nullable Instant newest,
            List<Item> missing,
            List<Item> remarks) {}

    private static final class Look {
        private final Map<String, Container> sessions = new TreeMap<>();
        private final Map<String, Container> projects = new TreeMap<>();
        private final Set<String> changed = new TreeSet<>();
        private final Map<String, Set<String>> labels = new HashMap<>();
        private final List<Item> missing = new ArrayList<>();
        private final List<Item> remarks = new ArrayList<>();
        private @Nullable Instant newest;

        void see(Container item, @Nullable Instant from) {
            Instant modified = item.modified();
            // One without a modification time may have changed.
            if (from == null || modified == null || modified.isAfter(from)) {
                changed.add(item.id());
            }
            see(modified);
        }

        void see(@Nullable Instant modified) {
            if (modified != null && (newest == null || modified.isAfter(newest))) {
                newest = modified;
            }
        }
    }

    public Changes(Flywheel flywheel) {
        this.flywheel = flywheel;
    }

    /**
     * Looks for changes.
     *
     * @param newest the value from the last look; null if everything counts as changed
     * @throws DeliveryException if the sessions or projects cannot be listed
     */
    public Seen since(@Nullable Instant newest) throws IOException, InterruptedException {
        Instant began = flywheel.clock().instant();
        Instant from = newest == null ? null : newest.minus(OVERLAP);
        Look look = new Look();
        flywheel.all("/sessions", null, node -> session(node, from, look));
        flywheel.all("/projects", null, node -> project(node, from, look));
        if (from != null) {
            modified("/groups", from, look, node -> group(node, look));
            modified("/subjects", from, look, node -> subject(node, look));
            for (String path : List.of("/acquisitions", "/analyses", "/files")) {
                modified(path, from, look, node -> below(node, look));
            }
        }
        // A time ahead of our clock would hide all changes until then.
        Instant next = look.newest == null || look.newest.isAfter(began) ? began : look.newest;
        boolean nothingTold = look.newest == null || !look.missing.isEmpty();
        return new Seen(
                look.sessions, look.projects, look.changed, nothingTold ? newest : next, look.missing, look.remarks);
    }

    private static void session(JsonNode node, @Nullable Instant from, Look look) throws DeliveryException {
        Container session = Answers.container(Level.SESSION, node);
        look.sessions.put(session.id(), session);
        look.see(session, from);
        String above = session.subject() == null ? String.valueOf(session.project()) : session.subject();
        if (!look.labels.computeIfAbsent(above, key -> new HashSet<>(2)).add(session.label())) {
            look.remarks.add(session.duplicate("another session of this subject has the same label"));
        }
    }

    private static void project(JsonNode node, @Nullable Instant from, Look look) throws DeliveryException {
        Container project = Answers.container(Level.PROJECT, node);
        look.projects.put(project.id(), project);
        look.see(project, from);
    }

    private static void group(JsonNode node, Look look) throws DeliveryException {
        String id = Answers.container(Level.GROUP, node).id();
        look.projects.values().stream()
                .filter(project -> id.equals(project.group()))
                .forEach(project -> look.changed.add(project.id()));
    }

    private static void subject(JsonNode node, Look look) throws DeliveryException {
        Container subject = Answers.container(Level.SUBJECT, node);
        if (subject.project() != null) {
            look.changed.add(subject.project());
        }
        look.sessions.values().stream()
                .filter(session -> subject.id().equals(session.subject()))
                .forEach(session -> look.changed.add(session.id()));
    }

    private static void below(JsonNode node, Look look) {
        JsonNode parents = node.path("parents");
        String session = Answers.reference(parents.path("session"));
        String item = session == null ? Answers.reference(parents.path("project")) : session;
        if (item != null) {
            look.changed.add(item);
        }
    }

    private void modified(String path, Instant from, Look look, Flywheel.Taker taker)
            throws IOException, InterruptedException {
        String filter = "modified>" + from.truncatedTo(ChronoUnit.SECONDS);
        try {
            flywheel.all(path, filter, node -> {
                taker.take(node);
                look.see(Answers.time(node.path("modified")));
            });
        } catch (DeliveryException e) {
            if (Flywheel.ENDS_ALL.contains(e.trouble())) {
                throw e;
            }
            look.missing.add(Item.of("the list %s of changes".formatted(path), path, e));
        }
    }
}
