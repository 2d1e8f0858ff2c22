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
 * Which sessions there are, and in which something changed since the last time. All sessions are listed, 250 a request; of what is
 * in them only what Flywheel says was modified. Memory grows with the sessions: a few hundred bytes each.
 */
public final class Changes {

    /** How far back is looked again: what was written at the same time as it was listed may have been missed. */
    public static final Duration OVERLAP = Duration.ofMinutes(10);

    private final Flywheel flywheel;
    private final Lists lists;

    /**
     * What a look found.
     *
     * @param sessions all, by id, that the key's user may see. NB: one that is not among them may be deleted, moved, or hidden
     * @param changed ids of those in which something is new
     * @param newest what the next look begins with; null as long as Flywheel has told no time
     * @param missing what could not be asked for: as long as it is not empty, {@code changed} may lack some
     * @param remarks sessions with another's label
     */
    public record Seen(
            Map<String, Container> sessions,
            Set<String> changed,
            @Nullable Instant newest,
            List<Item> missing,
            List<Item> remarks) {}

    private static final class Look {
        private final Map<String, Container> sessions = new TreeMap<>();
        private final Set<String> changed = new TreeSet<>();
        private final Map<String, Set<String>> labels = new HashMap<>();
        private final List<Item> missing = new ArrayList<>();
        private final List<Item> remarks = new ArrayList<>();
        private @Nullable Instant newest;

        void see(@Nullable Instant modified) {
            if (modified != null && (newest == null || modified.isAfter(newest))) {
                newest = modified;
            }
        }
    }

    public Changes(Flywheel flywheel) {
        this.flywheel = flywheel;
        this.lists = new Lists(flywheel);
    }

    /**
     * Looks.
     *
     * @param newest what the last look gave; null: everything counts as changed
     * @throws DeliveryException when the sessions cannot be listed
     */
    public Seen since(@Nullable Instant newest) throws IOException, InterruptedException {
        Instant began = flywheel.clock().instant();
        Instant from = newest == null ? null : newest.minus(OVERLAP);
        Look look = new Look();
        lists.all("/sessions", null, node -> session(node, from, look));
        if (from != null) {
            below("/acquisitions", from, look);
            below("/analyses", from, look);
            below("/files", from, look);
        }
        // A time ahead of ours would hide all changes until then.
        Instant next = look.newest == null || look.newest.isAfter(began) ? began : look.newest;
        boolean nothingTold = look.newest == null || !look.missing.isEmpty();
        return new Seen(look.sessions, look.changed, nothingTold ? newest : next, look.missing, look.remarks);
    }

    private static void session(JsonNode node, @Nullable Instant from, Look look) throws DeliveryException {
        Container session = Answers.container(Level.SESSION, node);
        look.sessions.put(session.id(), session);
        look.see(session.modified());
        Instant modified = session.modified();
        // What does not say when it was changed may have been.
        if (from == null || modified == null || modified.isAfter(from)) {
            look.changed.add(session.id());
        }
        String above = session.subject() == null ? String.valueOf(session.project()) : session.subject();
        if (!look.labels.computeIfAbsent(above, key -> new HashSet<>(2)).add(session.label())) {
            look.remarks.add(session.duplicate("another one of its subject has the same label"));
        }
    }

    private void below(String path, Instant from, Look look) throws IOException, InterruptedException {
        String filter = "modified>" + from.truncatedTo(ChronoUnit.SECONDS);
        try {
            lists.all(path, filter, node -> {
                String session = Answers.reference(node.path("parents").path("session"));
                if (session != null) {
                    look.changed.add(session);
                }
                look.see(Answers.time(node.path("modified")));
            });
        } catch (DeliveryException e) {
            if (Flywheel.endsAll(e.trouble())) {
                throw e;
            }
            look.missing.add(Item.of("the list %s of what changed".formatted(path), path, e));
        }
    }
}
