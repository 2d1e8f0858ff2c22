package dozo.archive;

import dozo.copy.Copy;
import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.copy.ManifestPart;
import dozo.copy.ProvenRead;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.RemoteException;
import dozo.restore.ArchiveRestore;
import dozo.send.Crew;
import dozo.send.SiteReader;
import dozo.send.Throttle;
import dozo.source.flywheel.Flywheel;
import dozo.source.flywheel.Writes;
import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Restores the sessions of a manifest into a Flywheel, by the {@code flywheel.json} that was collected with them: the
 * containers from the top, what describes them, and their files. A restore that was interrupted is completed by running it
 * again: what is there is found, and not sent again. Studies and series count sessions and acquisitions.
 */
final class SessionRestore implements ArchiveRestore {

    /** Files of a container that are restored at the same time. Each of them lies in a temporary file meanwhile. */
    private static final int AT_ONCE = 4;

    private final ManifestPart part;
    private final ProvenRead site;
    private final Opening opening;
    private final RestoredIds.Of ids;
    private final boolean replaces;
    private final Throttle throttle;
    private final Tries tries = new Tries();

    private final Tally tally = new Tally();
    private final SelectedFiles selected;

    /** Opens the Flywheel. */
    interface Opening {
        Flywheel open();
    }

    SessionRestore(
            ManifestPart part,
            ProvenRead site,
            Opening opening,
            RestoredIds.Of ids,
            boolean replaces,
            Throttle throttle) {
        this.part = part;
        this.site = site;
        this.opening = opening;
        this.ids = ids;
        this.replaces = replaces;
        this.throttle = throttle;
        this.selected = new SelectedFiles(part, FlywheelJson.PLACE, tally);
    }

    @Override
    public Progress run(Consumer<Finding> told) throws IOException, InterruptedException {
        tally.tell(told);
        part.select();
        part.reportUnmatched(told);
        FlywheelJson sealed = FlywheelJson.read(part, site);
        part.items(item -> selected.take(item, sealed::names));
        tally.allTaken();
        try (Flywheel flywheel = opening.open()) {
            Writes writes = new Writes(flywheel);
            Containers containers = new Containers(writes, ids, sealed, replaces);
            FileRestore files = new FileRestore(writes, site, replaces, throttle);
            for (SealedContainer container : sealed.containers()) {
                bring(container, sealed, containers, files);
            }
        }
        return progress();
    }

    private void bring(SealedContainer container, FlywheelJson sealed, Containers containers, FileRestore files)
            throws IOException, InterruptedException {
        String[] path = new String[1];
        // NB: a Flywheel that does not answer about the first container would not answer about any.
        boolean isFirst = container.kind() == ContainerKind.GROUP;
        String failed = tries.failure(isFirst, () -> {
            Containers.Found found = containers.bring(container);
            path[0] = found.path();
            if (!found.differing().isEmpty()) {
                differs(FlywheelJson.PLACE, "%s: %s".formatted(container.shown(), differing(found.differing())));
            }
        });
        if (failed != null) {
            tally.finding(FlywheelJson.PLACE, Problem.NOT_SENT, "%s: %s".formatted(container.shown(), failed));
        } else {
            tally.found(
                    container.kind() == ContainerKind.SESSION ? 1 : 0,
                    container.kind() == ContainerKind.ACQUISITION ? 1 : 0);
        }
        try (Crew crew = new Crew(AT_ONCE)) {
            for (JsonNode file : container.object().path("files")) {
                crew.start(() -> bring(file, container, path[0], sealed, files));
            }
            crew.join();
        }
    }

    private static String differing(Set<String> names) {
        return "Flywheel has other values for %s; they stay".formatted(String.join(", ", names));
    }

    /** @param container its path; null if it is not there */
    private void bring(
            JsonNode file, SealedContainer holder, @Nullable String container, FlywheelJson sealed, FileRestore files)
            throws IOException, InterruptedException {
        FilePath place = SealedContainer.place(file);
        if (place == null) {
            if (sealed.hasFilesOf(holder)) {
                tally.finding(
                        FlywheelJson.PLACE,
                        Problem.NOT_SENT,
                        "a file of %s was listed by Flywheel, but never delivered".formatted(holder.shown()));
            }
            return;
        }
        Item item = selected.find(place);
        if (item == null) {
            return;
        }
        if (container == null) {
            tally.notSent(place, Problem.NOT_SENT, "%s was not restored".formatted(holder.shown()));
            return;
        }
        String failed = tries.failure(false, () -> bring(file, place, container, item, files));
        if (failed != null) {
            tally.notSent(place, Problem.NOT_SENT, failed);
        }
    }

    private void bring(JsonNode file, FilePath place, String container, Item item, FileRestore files)
            throws IOException, InterruptedException {
        StoredCopy copy = item.copy();
        if (copy == null) {
            throw new IllegalStateException("only files with a copy are restored");
        }
        long sizeBytes = item.entry().facts().sizeBytes();
        try {
            switch (files.bring(container, file, copy)) {
                case FileRestore.Outcome.Verified verified -> {
                    tally.moved(verified.sent() ? sizeBytes : 0);
                    tally.verified(sizeBytes, verified.sent());
                    if (!verified.differing().isEmpty()) {
                        differs(place, differing(verified.differing()));
                    }
                }
                case FileRestore.Outcome.Differs other -> {
                    tally.differing();
                    differs(
                            place,
                            "Flywheel has other bytes under this name"
                                    + (other.afterSending() ? ", after it was sent" : ""));
                }
            }
        } catch (ProvenRead.Differs e) {
            tally.notSent(place, Problem.MISMATCHED, "the copy is not what was verified; check the site's disks");
        } catch (RemoteException e) {
            tally.notSent(place, SiteReader.problem(e), "cannot be read at the site: " + e.getMessage());
        }
    }

    private void differs(FilePath path, String how) {
        tally.finding(path, Problem.ARCHIVE_DIFFERS, how);
    }

    @Override
    public Counts counts() {
        return tally.counts();
    }

    @Override
    public Copy.Progress progress() {
        return tally.progress();
    }

    @Override
    public void close() {
        site.close();
    }
}
