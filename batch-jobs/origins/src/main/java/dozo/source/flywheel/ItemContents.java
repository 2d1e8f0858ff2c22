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
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads what Flywheel lists of one item: of a session its own files, those of its acquisitions, and those of the
 * analyses of both; of a project its own files, those of its subjects, and those of the analyses of both. Every
 * container is requested by its id, because lists may omit files. A container that cannot be read becomes an item, and
 * the rest is read.
 */
final class ItemContents {

    private final Flywheel flywheel;
    private final @Nullable Metadata metadata;
    private final Patience patience = new Patience();
    private final List<HeldFile> files = new ArrayList<>();
    private final List<Item> missing = new ArrayList<>();
    private final List<Item> remarks = new ArrayList<>();

    /** @param metadata receives each container, those above the item too; null if only files are to be listed */
    ItemContents(Flywheel flywheel, @Nullable Metadata metadata) {
        this.flywheel = flywheel;
        this.metadata = metadata;
    }

    /**
     * Reads the whole item.
     *
     * @throws DeliveryException if nothing of it can be read
     */
    ListedItem read(Level level, String id) throws IOException, InterruptedException {
        JsonNode node = flywheel.get("/%s/%s".formatted(level.plural(), id));
        Container item = container(level, id, node);
        addFiles(item, node);
        addMetadata(item, node);
        if (metadata != null) {
            above(item);
        }
        children(item, level == Level.PROJECT ? Level.SUBJECT : Level.ACQUISITION);
        children(item, Level.ANALYSIS);
        return new ListedItem(item, List.copyOf(files), List.copyOf(missing), List.copyOf(remarks));
    }

    private static Container container(Level level, String id, JsonNode node) throws DeliveryException {
        Container container = Answers.container(level, node);
        if (!container.id().equals(id)) {
            throw new DeliveryException(
                    Trouble.UNPARSED, "requested one %s, Flywheel returned another".formatted(level.word()));
        }
        return container;
    }

    private void above(Container item) throws IOException, InterruptedException {
        above(item, Level.GROUP, item.group());
        if (item.level() == Level.SESSION) {
            above(item, Level.PROJECT, item.project());
            above(item, Level.SUBJECT, item.subject());
        }
    }

    private void above(Container item, Level level, @Nullable String id) throws IOException, InterruptedException {
        try {
            if (id == null) {
                throw new DeliveryException(Trouble.UNPARSED, "Flywheel does not say which it is");
            }
            JsonNode node = patience.ask(() -> flywheel.get("/%s/%s".formatted(level.plural(), id)));
            Container above = container(level, id, node);
            // They are in the project's own item.
            ((ObjectNode) node).remove("files");
            addMetadata(above, node);
        } catch (DeliveryException e) {
            note(Item.of("%s of %s".formatted(level.word(), item.shown()), id == null ? item.id() : id, e), e);
        }
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
            JsonNode node = patience.ask(() -> flywheel.get(path));
            Container child = container(told.level(), told.id(), node);
            addFiles(told, node);
            addMetadata(child, node);
        } catch (DeliveryException e) {
            note(told, e);
            return;
        }
        if (told.level() == Level.SUBJECT || told.level() == Level.ACQUISITION) {
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

    private void addMetadata(Container container, JsonNode node) throws IOException, InterruptedException {
        if (metadata == null) {
            return;
        }
        if (lacksInfo(node)) {
            missing.add(
                    new Item(container.shown(), container.id(), Trouble.UNPARSED, "Flywheel does not return its info"));
        }
        for (JsonNode entry : node.path("files")) {
            if (lacksInfo(entry) && !Answers.isDeleted(entry)) {
                addInfo(Answers.file(container, entry), (ObjectNode) entry);
            }
        }
        metadata.add(container, node);
    }

    /** Returns whether there is an info that was left out of the answer. */
    private static boolean lacksInfo(JsonNode node) {
        return node.path("info_exists").asBoolean(false) && node.path("info").isEmpty();
    }

    private void addInfo(HeldFile file, ObjectNode entry) throws IOException, InterruptedException {
        try {
            JsonNode info =
                    patience.ask(() -> flywheel.get(file.path() + "/info")).path("info");
            if (info.isEmpty()) {
                throw new DeliveryException(Trouble.UNPARSED, "Flywheel does not return its info");
            }
            entry.set("info", info);
        } catch (DeliveryException e) {
            note(file.item(e.trouble(), "info: " + e.getMessage()), e);
        }
    }

    private void note(Container container, DeliveryException why) throws DeliveryException {
        note(Item.of(container.shown(), container.id(), why), why);
    }

    private void note(Item item, DeliveryException why) throws DeliveryException {
        if (Flywheel.ENDS_ALL.contains(why.trouble()) || patience.isOver()) {
            throw why;
        }
        missing.add(item);
    }
}
