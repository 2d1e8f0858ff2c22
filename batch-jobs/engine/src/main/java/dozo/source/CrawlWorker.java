package dozo.source;

import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.source.Listings.Listing;
import dozo.source.Waiting.Folder;
import dozo.source.Waiting.Names;
import dozo.source.Waiting.Opened;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Optional;

/** One thread of a {@link Crawl}: reads folders until none waits. */
final class CrawlWorker {

    private final Kernel kernel;
    private final FolderOpener opener;
    private final Listings listings;
    private final Waiting waiting;

    CrawlWorker(Kernel kernel, int root, Listings listings, Waiting waiting) {
        this.kernel = kernel;
        this.opener = new FolderOpener(kernel, root);
        this.listings = listings;
        this.waiting = waiting;
    }

    void work() throws IOException, InterruptedException {
        for (Folder folder = waiting.take(); folder != null; folder = waiting.take()) {
            waiting.read(read(folder));
        }
    }

    /** Reports what a folder contains. Returns its subfolders. */
    private Names read(Folder folder) throws IOException, InterruptedException {
        int open = opener.open(folder.path());
        if (open < 0) {
            // A folder that vanished during the walk is no longer part of the source.
            if (Errno.of(-open) != Errno.GONE || folder.path().isRoot()) {
                unreadable(folder.path(), -open);
            }
            return Names.none();
        }
        try {
            return read(folder, open);
        } finally {
            kernel.close(open);
        }
    }

    private Names read(Folder folder, int open) throws IOException, InterruptedException {
        int error = kernel.lookAtOpen(open);
        if (error < 0) {
            unreadable(folder.path(), -error);
            return Names.none();
        }
        Opened here = new Opened(folder.above(), kernel.device(), kernel.inode());
        if (here.isCycle()) {
            listings.problem(folder.path(), Problem.CYCLE, "directory loop (mounted into itself); not followed");
            return Names.none();
        }
        Names found = new Names(folder.path(), here);
        tell(folder.path(), open, found);
        return found;
    }

    private void tell(FilePath folder, int open, Names found) throws IOException, InterruptedException {
        Listing listing = listings.folder(folder);
        int bytes = kernel.readFolder(open);
        while (bytes > 0) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            for (int at = 0; at < bytes; at += kernel.recordBytes(at)) {
                byte[] name = kernel.name(at);
                if (!isDots(name)) {
                    tell(folder, name, open, at, listing, found);
                }
            }
            bytes = kernel.readFolder(open);
        }
        // A folder that was removed while it was read is empty now, and its content was reported.
        if (bytes == 0 || Errno.of(-bytes) == Errno.GONE) {
            listing.end();
        } else {
            unreadable(folder, -bytes);
        }
    }

    /** Reports one name, whose record is at this position of the folder's buffer. */
    private void tell(FilePath folder, byte[] name, int open, int at, Listing listing, Names found)
            throws IOException, InterruptedException {
        int error = kernel.lookAt(open, at);
        if (error < 0) {
            notSeen(folder, name, -error);
            return;
        }
        Optional<EntryKind> kind = kernel.kind();
        if (kind.isEmpty()) {
            listings.problem(folder.resolve(name), Problem.SPECIAL, "socket, device or fifo; not copied");
            return;
        }
        switch (kind.get()) {
            case FILE -> listing.entry(name, kernel.facts(EntryKind.FILE, null));
            case LINK -> tellLink(folder, name, open, at, listing);
            case DIRECTORY -> {
                listing.entry(name, kernel.facts(EntryKind.DIRECTORY, null));
                if (listings.enters(folder, name)) {
                    found.add(name);
                }
            }
        }
    }

    private void tellLink(FilePath folder, byte[] name, int open, int at, Listing listing)
            throws IOException, InterruptedException {
        int length = kernel.readLink(open, at);
        if (length < 0) {
            notSeen(folder, name, -length);
        } else if (length == Kernel.LINK_BYTES_MAX) {
            listings.problem(folder.resolve(name), Problem.UNREADABLE, "the link's text is too long");
        } else {
            listing.entry(name, kernel.facts(EntryKind.LINK, kernel.linkText(length)));
        }
    }

    private void notSeen(FilePath folder, byte[] name, int error) throws IOException, InterruptedException {
        if (Errno.of(error) != Errno.GONE) {
            listings.problem(folder.resolve(name), Problem.UNREADABLE, "cannot be read: " + Errno.reason(error));
        }
    }

    private void unreadable(FilePath folder, int error) throws IOException, InterruptedException {
        String reason = Errno.reason(error);
        if (folder.isRoot() || Errno.of(error) == Errno.EXHAUSTED) {
            throw new FileSystemException(folder.isRoot() ? "the source folder" : folder.toString(), null, reason);
        }
        listings.problem(
                folder,
                Problem.UNREADABLE,
                "folder cannot be read: %s; let the service's user read it".formatted(reason));
    }

    static boolean isDots(byte[] name) {
        return name[0] == '.' && (name.length == 1 || (name.length == 2 && name[1] == '.'));
    }
}
