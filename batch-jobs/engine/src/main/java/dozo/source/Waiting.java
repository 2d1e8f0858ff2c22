package dozo.source;

import dozo.file.FilePath;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The folders that a crawl has still to read, shared by its workers. The folder found last is taken first, so that only
 * the folders beside the way down to those being read are waiting. The subfolders of one folder are stored only as
 * names, end to end: a million of them take some tens of megabytes instead of a million paths.
 */
final class Waiting {

    private final Deque<Names> last = new ArrayDeque<>();
    private final Runnable moreHands;
    private @Nullable Folder root = new Folder(FilePath.ROOT, null);
    private int beingRead;
    private int idle;
    private @Nullable Throwable failure;

    /** An open folder and its parents up to the root, by their numbers in the file system. */
    record Opened(@Nullable Opened above, long device, long inode) {

        /** Returns whether the folder is one of its own parents. */
        boolean isCycle() {
            for (Opened folder = above; folder != null; folder = folder.above) {
                if (folder.inode == inode && folder.device == device) {
                    return true;
                }
            }
            return false;
        }
    }

    /** A folder to read; {@code above} is null for the root. */
    record Folder(FilePath path, @Nullable Opened above) {}

    /** The names of subfolders of one folder; the last is taken first. */
    static final class Names {

        private final FilePath folder;
        private final @Nullable Opened opened;
        private byte[] bytes = new byte[64];
        private int length;

        Names(FilePath folder, @Nullable Opened opened) {
            this.folder = folder;
            this.opened = opened;
        }

        /** Adds a name. It contains no NUL, so a NUL ends it here. */
        void add(byte[] name) {
            int needed = Math.addExact(length, name.length + 1);
            if (needed > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length + (bytes.length >> 1)));
            }
            System.arraycopy(name, 0, bytes, length, name.length);
            bytes[needed - 1] = 0;
            length = needed;
        }

        static Names none() {
            return new Names(FilePath.ROOT, null);
        }

        boolean isEmpty() {
            return length == 0;
        }

        int lengthBytes() {
            return length;
        }

        Folder takeLast() {
            int start = length - 1;
            while (start > 0 && bytes[start - 1] != 0) {
                start--;
            }
            byte[] name = Arrays.copyOfRange(bytes, start, length - 1);
            length = start;
            return new Folder(folder.resolve(name), opened);
        }
    }

    /**
     * Creates a queue that contains only the root.
     *
     * @param moreHands called, perhaps often, if a folder waits and no worker does
     */
    Waiting(Runnable moreHands) {
        this.moreHands = moreHands;
    }

    /**
     * Returns the next folder; null if all are read or a worker has failed. Waits for folders that others may still
     * find.
     */
    synchronized @Nullable Folder take() throws InterruptedException {
        while (root == null && last.isEmpty() && beingRead > 0 && failure == null) {
            idle++;
            try {
                wait();
            } finally {
                idle--;
            }
        }
        Folder folder = failure == null ? next() : null;
        if (folder != null) {
            beingRead++;
        }
        return folder;
    }

    /** Records that a folder is read, and adds what was found in it. */
    synchronized void read(Names found) {
        beingRead--;
        if (!found.isEmpty()) {
            last.push(found);
            if (idle == 0) {
                moreHands.run();
            }
        }
        notifyAll();
    }

    /** Records a worker's failure: the others begin no other folder. */
    synchronized void fail(Throwable why) {
        if (failure == null) {
            failure = why;
        }
        notifyAll();
    }

    /** Returns the first failure of a worker; null if there is none. */
    synchronized @Nullable Throwable failure() {
        return failure;
    }

    private @Nullable Folder next() {
        Folder first = root;
        if (first != null) {
            root = null;
            return first;
        }
        Names names = last.peek();
        if (names == null) {
            return null;
        }
        Folder folder = names.takeLast();
        if (names.isEmpty()) {
            last.pop();
        }
        return folder;
    }
}
