package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.FolderQueue.Name;
import dozo.source.Listings;
import dozo.source.Listings.Listing;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Walks a tree at a site folder by folder, many folders at once, because over a long distance each takes several round
 * trips. Links are not followed; their texts are read. Times are whole seconds, hard links are unknown.
 *
 * <p>A lane that is lost after names of a folder were reported fails the walk, because they cannot be taken back.
 */
final class SiteWalk {

    private static final int FOLDERS_AT_ONCE = 32;

    private final Lanes lanes;
    private final Workers workers;
    private final FilePath top;
    private final Listings listings;
    private final FolderQueue<FilePath> folders = new FolderQueue<>(FOLDERS_AT_ONCE, this::list);

    SiteWalk(Lanes lanes, Workers workers, FilePath top, Listings listings) {
        this.lanes = lanes;
        this.workers = workers;
        this.top = top;
        this.listings = listings;
    }

    /** Reports everything below the folder, whose own path is the root. */
    void run() throws IOException, InterruptedException {
        try (folders) {
            folders.add(top);
            folders.await();
        }
    }

    private void list(FilePath folder) throws IOException, InterruptedException {
        Reported names = new Reported(folder);
        try {
            FolderQueue.list(lanes, folder, names);
            names.end();
        } catch (RemoteException e) {
            listings.problem(
                    folder.below(top), SiteReader.problem(e), "folder cannot be read at the site: " + e.getMessage());
        }
    }

    /** Reports the names of one folder. */
    private final class Reported implements FolderQueue.Names {

        private final FilePath folder;
        private @Nullable Listing listing;

        Reported(FilePath folder) {
            this.folder = folder;
        }

        @Override
        public void pass(List<Name> names) throws IOException, InterruptedException {
            Map<FilePath, byte[]> targets = workers.each(
                    names.stream()
                            .filter(name -> name.facts().kind() == Kind.LINK)
                            .map(Name::path)
                            .toList(),
                    link -> lanes.over(lane -> lane.sftp().readlink(link)));
            Listing into = listing == null ? listings.folder(folder.below(top)) : listing;
            listing = into;
            for (Name name : names) {
                if (name.facts().kind() == Kind.OTHER) {
                    listings.problem(name.path().below(top), Problem.SPECIAL, "socket, device or fifo at the site");
                    continue;
                }
                into.entry(name.path().name(), SiteFacts.ofSource(name.facts(), targets.get(name.path())));
                if (name.facts().kind() == Kind.DIRECTORY) {
                    folders.add(name.path());
                }
            }
        }

        @Override
        public boolean passed() {
            return listing != null;
        }

        void end() throws IOException, InterruptedException {
            requireNonNull(listing).end();
        }
    }
}
