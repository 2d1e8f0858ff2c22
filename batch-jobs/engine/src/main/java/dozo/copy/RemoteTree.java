package dozo.copy;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.FolderQueue;
import dozo.send.FolderQueue.Name;
import dozo.send.SiteReader;
import java.io.IOException;
import java.util.List;

/**
 * Files and folders of a site as a source; they are only read. Several folders are listed at once, because each takes a
 * few round trips. Memory grows with the number of folders waiting to be listed, not with the number of files.
 */
final class RemoteTree {

    private static final int FOLDERS_AT_ONCE = 16;

    private final Lanes lanes;
    private final Filter filter;
    private final Unfinished unfinished;
    private final Visitor visitor;
    private final FolderQueue<Found> folders = new FolderQueue<>(FOLDERS_AT_ONCE, this::list);

    /** Receives what is there, from several threads at once, a folder before its content. */
    interface Visitor {

        void found(Found found) throws IOException, InterruptedException;

        /** Receives something that cannot be copied; below an unreadable folder nothing more is reported. */
        void problem(FilePath path, Problem problem, String message);
    }

    /** Tells whether a folder was left by an unfinished copy to the site. */
    interface Unfinished {
        boolean is(Found folder) throws IOException, InterruptedException;
    }

    RemoteTree(Lanes lanes, Filter filter, Unfinished unfinished, Visitor visitor) {
        this.lanes = lanes;
        this.filter = filter;
        this.unfinished = unfinished;
        this.visitor = visitor;
    }

    /** Returns the facts of a source; throws NO_SUCH_FILE if it does not exist. */
    static RemoteFacts look(Lanes lanes, FilePath source) throws IOException, InterruptedException {
        return lanes.over(lane -> lane.sftp().lstat(source))
                .orElseThrow(() ->
                        new RemoteException(Reason.NO_SUCH_FILE, "no file or folder /" + source + " at the site"));
    }

    /** Walks this and everything below it. */
    void walk(Found source) throws IOException, InterruptedException {
        try (folders) {
            visit(source);
            folders.await();
        }
    }

    private void list(Found folder) throws IOException, InterruptedException {
        try {
            FolderQueue.list(lanes, folder.remote(), new Visited(folder));
        } catch (RemoteException e) {
            Problem problem = SiteReader.problem(e);
            visitor.problem(
                    folder.path(),
                    problem,
                    problem == Problem.VANISHED
                            ? "%s: no longer exists at the site".formatted(folder.path())
                            : "folder cannot be read: %s".formatted(e.getMessage()));
        }
    }

    private void visit(Found found) throws IOException, InterruptedException {
        if (!filter.takes(found.path(), found.facts().kind() == Kind.DIRECTORY)) {
            return;
        }
        if (found.facts().kind() == Kind.OTHER) {
            visitor.problem(found.path(), Problem.SPECIAL, "socket, device or fifo; not copied");
            return;
        }
        if (Units.isTooLarge(found.contentBytes())) {
            visitor.problem(
                    found.path(),
                    Problem.UNREADABLE,
                    "the site says that it has %s bytes; files of more than 16 TiB are not copied"
                            .formatted(Long.toUnsignedString(found.contentBytes())));
            return;
        }
        if (found.facts().kind() == Kind.DIRECTORY && unfinished.is(found)) {
            visitor.problem(
                    found.path(),
                    Problem.SPECIAL,
                    found.path()
                            + ": temporary folder of an unfinished copy; not copied. Finish that copy with the same command,"
                            + " or remove the folder at the site");
            return;
        }
        visitor.found(found);
        if (found.facts().kind() == Kind.DIRECTORY) {
            folders.add(found);
        }
    }

    /** Visits the names of one folder. */
    private final class Visited implements FolderQueue.Names {

        private final Found folder;
        private boolean passed;

        Visited(Found folder) {
            this.folder = folder;
        }

        @Override
        public void pass(List<Name> names) throws IOException, InterruptedException {
            passed = true;
            for (Name each : names) {
                byte[] name = each.path().name();
                visit(new Found(
                        folder.path().resolve(name), each.path(), folder.local().resolve(name), each.facts()));
            }
        }

        @Override
        public boolean passed() {
            return passed;
        }
    }
}
