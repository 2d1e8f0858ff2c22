package dozo.source.xnat;

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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * A spool for image sessions, with their metadata in {@code xnat.json}. Nothing is written outside it, whatever names and
 * labels contain. A file keeps its first path. A new version replaces the old one.
 */
public final class Spool {

    private final Xnat xnat;
    private final Path folder;
    private final int atOnce;

    /** @param atOnce how many files of a session are downloaded in parallel */
    public Spool(Xnat xnat, Path folder, int atOnce) {
        this.xnat = xnat;
        this.folder = folder;
        this.atOnce = atOnce;
    }

    /** Returns the folder in a spool that is the experiment of a session. */
    public static Path tree(Path spool, String session) {
        return ItemFolder.tree(home(spool, session));
    }

    private static Path home(Path spool, String session) {
        return FilePath.ROOT.resolve(session.getBytes(StandardCharsets.UTF_8)).under(spool);
    }

    /**
     * Downloads what is not here yet of a session, and compares what XNAT lists with what is here.
     *
     * @throws DeliveryException if XNAT no longer accepts the login, or the spool cannot be read or written
     * @throws IllegalArgumentException if {@code id} is not an id
     */
    public Reconciliation deliver(String id) throws IOException, InterruptedException {
        ListedSession told = ListedSession.of(xnat, id);
        JsonNode session = told.session();
        if (session == null) {
            return Reconciliation.unread(id, id, told.missing());
        }
        try (ItemFolder home = ItemFolder.open(home(folder, id), Downloads.NOTE)) {
            ItemFolder.Came came =
                    home.bring(told.files(), atOnce, Xnat.ENDS_ALL, new Downloads(xnat, home, told.files()));
            Metadata.write(home, told, session);
            return came.reconciled(id, Xnat.shown(told.label()), told.missing(), remarks(told, home.delivered()));
        }
    }

    private static List<Item> remarks(ListedSession told, Delivered delivered) {
        List<Item> remarks = new ArrayList<>();
        if (told.isWhole()) {
            delivered
                    .besides(told.files())
                    .forEach(place -> remarks.add(new Item(
                            place.path().toString(),
                            place.id(),
                            Trouble.NOT_TOLD,
                            "XNAT no longer lists this file; the local file is kept")));
        }
        long without = told.files().stream().filter(file -> file.md5() == null).count();
        if (without > 0) {
            remarks.add(new Item(
                    "session " + told.id(),
                    told.id(),
                    Trouble.NO_HASH,
                    "XNAT states no MD5 for %d files: switch on its setting \"checksums\", and refresh the catalogues"
                            .formatted(without)));
        }
        return remarks;
    }

    /**
     * Checks delivered files of a session again in XNAT: downloads them, and keeps nothing.
     *
     * @throws DeliveryException if nothing of the session can be read
     */
    public Recheck.Result check(String id, Recheck.Asked asked) throws IOException, InterruptedException {
        Recheck.Source<XnatFile> source = new Recheck.Source<>() {
            @Override
            public Recheck.Told<XnatFile> list() throws IOException, InterruptedException {
                ListedSession told = ListedSession.read(xnat, id);
                return new Recheck.Told<>(told.files(), told.isWhole());
            }

            @Override
            public Reread read(XnatFile file, Delivered.Entry place) throws IOException, InterruptedException {
                return Downloads.reread(xnat, file);
            }
        };
        return new Recheck<>(asked, Xnat.ENDS_ALL, source).in(home(folder, id), Downloads.NOTE);
    }
}
