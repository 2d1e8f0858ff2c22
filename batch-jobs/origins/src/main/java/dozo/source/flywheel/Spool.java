package dozo.source.flywheel;

import dozo.file.FilePath;
import dozo.source.delivery.Delivered;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.ItemFolder;
import dozo.source.delivery.Recheck;
import dozo.source.delivery.Reconciliation;
import dozo.source.delivery.Reread;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A spool for sessions and projects, with their metadata in {@code flywheel.json}. Nothing is written outside it, whatever names and labels contain. A file keeps its first path:
 * renaming a label or a file in Flywheel moves nothing here. A new version replaces the old one. If the record of
 * an item is lost, its files are compared with Flywheel's hashes.
 */
public final class Spool {

    private final Flywheel flywheel;
    private final Path folder;
    private final int atOnce;

    /** @param atOnce how many files of an item are downloaded in parallel */
    public Spool(Flywheel flywheel, Path folder, int atOnce) {
        this.flywheel = flywheel;
        this.folder = folder;
        this.atOnce = atOnce;
    }

    /** Returns the folder that is the experiment of a session or project. */
    public Path tree(String item) {
        return tree(folder, item);
    }

    /** Returns the folder in a spool that is the experiment of a session or project. */
    public static Path tree(Path spool, String item) {
        return ItemFolder.tree(home(spool, item));
    }

    private static Path home(Path spool, String item) {
        return FilePath.ROOT.resolve(item.getBytes(StandardCharsets.UTF_8)).under(spool);
    }

    /**
     * Downloads what is not here yet of a session, and compares what Flywheel lists with what is here.
     *
     * @throws DeliveryException if Flywheel no longer accepts the key, or the spool cannot be read or written
     * @throws IllegalArgumentException if {@code session} is not an id
     */
    public Reconciliation deliver(String session) throws IOException, InterruptedException {
        return deliver(Level.SESSION, session);
    }

    /**
     * Does the same for a session, or for a project with its subjects, without their sessions.
     *
     * @param level a session or a project
     * @throws DeliveryException if Flywheel no longer accepts the key, or the spool cannot be read or written
     * @throws IllegalArgumentException if {@code id} is not an id
     */
    public Reconciliation deliver(Level level, String id) throws IOException, InterruptedException {
        Metadata metadata = new Metadata(level);
        ListedItem told = ListedItem.of(flywheel, level, id, metadata);
        Container container = told.container();
        if (container == null) {
            return Reconciliation.unread(id, id, told.missing());
        }
        Path path = home(folder, id);
        try (ItemFolder home = ItemFolder.open(path, Downloads.NOTE)) {
            takeOver(path.resolve("delivered.json"), home.delivered());
            ItemFolder.Came came =
                    home.bring(told.files(), atOnce, Flywheel.ENDS_ALL, new Downloads(flywheel, home, told.files()));
            metadata.write(home, told);
            List<Item> remarks = new ArrayList<>(told.remarks());
            if (told.missing().isEmpty()) {
                home.delivered().besides(told.files()).forEach(place -> remarks.add(notTold(place)));
            }
            return came.reconciled(id, Answers.shown(container.label()), told.missing(), remarks);
        }
    }

    /**
     * Checks delivered files of a session or project again in Flywheel: downloads them, and keeps nothing.
     *
     * @throws DeliveryException if nothing of the item can be read
     */
    public Recheck.Result check(Level level, String id, Recheck.Asked asked) throws IOException, InterruptedException {
        Recheck.Source<HeldFile> source = new Recheck.Source<>() {
            @Override
            public Recheck.Told<HeldFile> list() throws IOException, InterruptedException {
                Answers.checkId(id);
                ListedItem told = new ItemContents(flywheel, null).read(level, id);
                return new Recheck.Told<>(told.files(), told.missing().isEmpty());
            }

            @Override
            public Reread read(HeldFile file, Delivered.Entry place) throws IOException, InterruptedException {
                return Downloads.reread(flywheel, file);
            }
        };
        return new Recheck<>(asked, Flywheel.ENDS_ALL, source).in(home(folder, id), Downloads.NOTE);
    }

    /** Imports the record in its format before November 2026. An unreadable record counts as none. */
    private static void takeOver(Path record, Delivered delivered) throws IOException {
        if (!delivered.places().isEmpty() || !Files.isRegularFile(record, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try {
            JsonNode files =
                    new JsonMapper().readTree(Files.readAllBytes(record)).path("files");
            for (Map.Entry<String, JsonNode> file : files.properties()) {
                JsonNode told = file.getValue();
                String hash = told.hasNonNull("hash") ? told.path("hash").asString() : null;
                delivered.add(new Delivered.Entry(
                        file.getKey(),
                        HeldFile.mark(told.path("version").asLong(), hash),
                        told.path("size").asLong(),
                        Downloads.NOTE,
                        FilePath.of(told.path("path").asString())));
            }
        } catch (JacksonException | IllegalArgumentException e) {
            // The files are then compared with Flywheel's hashes.
        }
    }

    private static Item notTold(Delivered.Entry place) {
        String message = "Flywheel no longer lists this file; the local file is kept";
        return new Item(place.path().toString(), place.id(), Trouble.NOT_TOLD, message);
    }
}
