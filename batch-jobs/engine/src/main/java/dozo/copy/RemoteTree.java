package dozo.copy;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Files and folders of a site as a source; they are only read. Several folders are listed at once, because each takes a
 * few round trips. Memory grows with the number of folders waiting to be listed, not with the number of files.
 */
final class RemoteTree {

    private static final int FOLDERS_AT_ONCE = 16;

    /**
     * How many names of a folder are held until its listing is complete, so that it can be listed again if a lane is
     * lost.
     */
    private static final int NAMES_KEPT_MAX = 4_096;

    private static final int TRIES = 3;

    private final Lanes lanes;
    private final Unfinished unfinished;
    private final Visitor visitor;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // Guarded by the lock.
    private final Deque<Found> waiting = new ArrayDeque<>();
    private int busy;

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

    RemoteTree(Lanes lanes, Unfinished unfinished, Visitor visitor) {
        this.lanes = lanes;
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
        visit(source);
        try (Crew crew = new Crew()) {
            for (int i = 0; i < FOLDERS_AT_ONCE; i++) {
                crew.start(this::listFolders);
            }
            crew.join();
        }
    }

    private void listFolders() throws IOException, InterruptedException {
        for (Found folder = next(); folder != null; folder = next()) {
            try {
                list(folder);
            } finally {
                listed();
            }
        }
    }

    /** Returns a folder to list; null if there will be no more. */
    private @Nullable Found next() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (waiting.isEmpty() && busy > 0) {
                changed.await();
            }
            Found next = waiting.poll();
            busy += next == null ? 0 : 1;
            return next;
        } finally {
            lock.unlock();
        }
    }

    private void listed() {
        lock.lock();
        try {
            busy--;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void list(Found folder) throws IOException, InterruptedException {
        for (int i = 1; ; i++) {
            Names names = new Names(folder);
            try {
                lanes.next().sftp().list(folder.remote(), names::take);
                names.pass();
                return;
            } catch (RemoteException e) {
                if (!e.retryable()) {
                    unreadable(folder, e);
                    return;
                }
                if (i == TRIES || names.passed) {
                    throw e;
                }
            }
        }
    }

    private void unreadable(Found folder, RemoteException e) throws RemoteException {
        switch (e.reason()) {
            case NO_SUCH_FILE ->
                visitor.problem(
                        folder.path(), Problem.VANISHED, "%s: no longer exists at the site".formatted(folder.path()));
            case PERMISSION_DENIED, REFUSED, UNSUPPORTED, EXISTS ->
                visitor.problem(
                        folder.path(), Problem.UNREADABLE, "folder cannot be read: %s".formatted(e.getMessage()));
            case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, STUCK, READ_ONLY, FULL, PROTOCOL -> throw e;
        }
    }

    private void visit(Found found) throws IOException, InterruptedException {
        if (found.facts().kind() == Kind.OTHER) {
            visitor.problem(found.path(), Problem.SPECIAL, "socket, device or fifo; not copied");
            return;
        }
        if (Long.compareUnsigned(found.contentBytes(), Units.FILE_BYTES_MAX) > 0) {
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
            lock.lock();
            try {
                Lanes.expectFewWaiting(waiting.size());
                waiting.push(found);
                changed.signal();
            } finally {
                lock.unlock();
            }
        }
    }

    /** The names of one listing. */
    private final class Names {

        private final Found folder;
        private final List<Found> kept = new ArrayList<>();
        private boolean passed;

        Names(Found folder) {
            this.folder = folder;
        }

        void take(FilePath remote, RemoteFacts facts) throws IOException, InterruptedException {
            byte[] name = remote.name();
            kept.add(new Found(
                    folder.path().resolve(name), remote, folder.local().resolve(name), facts));
            if (kept.size() == NAMES_KEPT_MAX) {
                passed = true;
                pass();
            }
        }

        void pass() throws IOException, InterruptedException {
            for (Found found : kept) {
                visit(found);
            }
            kept.clear();
        }
    }
}
