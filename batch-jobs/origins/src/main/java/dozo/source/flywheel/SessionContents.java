package dozo.source.flywheel;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.Patience;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * Reads what Flywheel lists of one session: its own files, those of its acquisitions, and those of the analyses of
 * both. Every container is requested by its id, because lists may omit files. A container that cannot be read becomes
 * an item, and the rest is read.
 */
final class SessionContents {

    private final Flywheel flywheel;
    private final Patience patience = new Patience();
    private final List<HeldFile> files = new ArrayList<>();
    private final List<Item> missing = new ArrayList<>();
    private final List<Item> remarks = new ArrayList<>();

    SessionContents(Flywheel flywheel) {
        this.flywheel = flywheel;
    }

    /**
     * Reads the whole session.
     *
     * @throws DeliveryException if nothing of the session can be read
     */
    ListedSession read(String session) throws IOException, InterruptedException {
        JsonNode node = flywheel.get("/sessions/" + session);
        Container container = Answers.container(Level.SESSION, node);
        if (!container.id().equals(session)) {
            throw new DeliveryException(Trouble.UNPARSED, "requested one session, Flywheel returned another");
        }
        addFiles(container, node);
        children(container, Level.ACQUISITION);
        children(container, Level.ANALYSIS);
        return new ListedSession(container, List.copyOf(files), List.copyOf(missing), List.copyOf(remarks));
    }

    private void children(Container above, Level level) throws IOException, InterruptedException {
        Set<String> labels = new HashSet<>();
        String path = "/%s/%s/%s".formatted(above.level().plural(), above.id(), level.plural());
        try {
            patience.ask(() -> {
                flywheel.all(path, null, node -> {
                    Container child = Answers.container(level, node);
                    if (!labels.add(child.label())) {
                        remarks.add(child.duplicate("a sibling has the same label"));
                    }
                    child(child);
                });
                return true;
            });
        } catch (DeliveryException e) {
            note(above, e);
        }
    }

    private void child(Container told) throws IOException, InterruptedException {
        try {
            String path = "/%s/%s".formatted(told.level().plural(), told.id());
            addFiles(told, patience.ask(() -> flywheel.get(path)));
        } catch (DeliveryException e) {
            note(told, e);
            return;
        }
        if (told.level() == Level.ACQUISITION) {
            children(told, Level.ANALYSIS);
        }
    }

    private void addFiles(Container container, JsonNode node) throws DeliveryException {
        Set<String> names = new HashSet<>();
        for (HeldFile file : Answers.files(container, node)) {
            if (!names.add(file.name())) {
                remarks.add(file.item(Trouble.DUPLICATE, "another file beside it has the same name"));
            }
            if (TheirHash.of(file.hash()).isEmpty()) {
                remarks.add(
                        file.item(Trouble.NO_HASH, "no hash, or one in an unknown format; content cannot be compared"));
            }
            files.add(file);
        }
    }

    private void note(Container container, DeliveryException why) throws DeliveryException {
        if (Flywheel.ENDS_ALL.contains(why.trouble()) || patience.isOver()) {
            throw why;
        }
        missing.add(Item.of(container.shown(), container.id(), why));
    }
}
