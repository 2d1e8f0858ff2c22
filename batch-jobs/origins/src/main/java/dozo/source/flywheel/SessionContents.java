package dozo.source.flywheel;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What Flywheel tells of one session: its own files, its acquisitions' and those of analyses of both. Every container is asked for by
 * itself, as lists may leave files out. What cannot be had is an item, and the rest is read.
 */
final class SessionContents {

    private final Flywheel flywheel;
    private final Lists lists;
    private final List<HeldFile> files = new ArrayList<>();
    private final List<Item> missing = new ArrayList<>();
    private final List<Item> remarks = new ArrayList<>();
    private int failuresInARow;

    SessionContents(Flywheel flywheel) {
        this.flywheel = flywheel;
        this.lists = new Lists(flywheel);
    }

    List<HeldFile> files() {
        return files;
    }

    /** Of the files whose sizes are told. */
    long bytes() {
        return files.stream().mapToLong(file -> Math.max(0, file.sizeBytes())).sum();
    }

    /** The first that is told of a file. */
    @Nullable
    String modality() {
        return files.stream()
                .map(HeldFile::modality)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** What was told of and could not be read: nobody knows what files it has. */
    List<Item> missing() {
        return missing;
    }

    List<Item> remarks() {
        return remarks;
    }

    /**
     * Reads all of it.
     *
     * @throws FlywheelException when nothing of the session can be read
     */
    Container read(String session) throws IOException, InterruptedException {
        JsonNode node = flywheel.get("/sessions/" + session);
        Container container = Answers.container(Level.SESSION, node);
        if (!container.id().equals(session)) {
            throw new FlywheelException(Trouble.UNPARSED, "asked for one session, Flywheel tells of another");
        }
        addFiles(container, node);
        children(container, Level.ACQUISITION);
        children(container, Level.ANALYSIS);
        return container;
    }

    private void children(Container above, Level level) throws IOException, InterruptedException {
        Set<String> labels = new HashSet<>();
        String path = "/%s/%s/%s".formatted(above.level().plural(), above.id(), level.plural());
        try {
            lists.all(path, null, node -> {
                Container child = Answers.container(level, node);
                if (!labels.add(child.label())) {
                    remarks.add(Item.of(child, Trouble.DUPLICATE, "another one beside it has the same label"));
                }
                child(child);
            });
        } catch (FlywheelException e) {
            note(above, e);
        }
    }

    private void child(Container told) throws IOException, InterruptedException {
        try {
            JsonNode node = flywheel.get("/%s/%s".formatted(told.level().plural(), told.id()));
            addFiles(told, node);
            failuresInARow = 0;
        } catch (FlywheelException e) {
            note(told, e);
            return;
        }
        if (told.level() == Level.ACQUISITION) {
            children(told, Level.ANALYSIS);
        }
    }

    private void addFiles(Container container, JsonNode node) throws FlywheelException {
        Set<String> names = new HashSet<>();
        for (HeldFile file : Answers.files(container, node)) {
            if (!names.add(file.name())) {
                remarks.add(Item.of(file, Trouble.DUPLICATE, "another file beside it has the same name"));
            }
            if (TheirHash.of(file.hash()).isEmpty()) {
                remarks.add(Item.of(file, Trouble.NO_HASH, "no hash to compare its bytes with, or in an unknown form"));
            }
            files.add(file);
        }
    }

    /** NB: a Flywheel that fails for everything is not asked for each of a thousand containers, with all the waiting. */
    private void note(Container container, FlywheelException why) throws FlywheelException {
        failuresInARow = why.trouble().mayBeOfAll() ? failuresInARow + 1 : 0;
        if (why.trouble().endsAll() || failuresInARow >= Limits.FAILURES_IN_A_ROW_MAX) {
            throw why;
        }
        missing.add(Item.of(container, why));
    }
}
