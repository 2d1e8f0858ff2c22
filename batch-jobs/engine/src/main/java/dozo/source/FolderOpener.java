package dozo.source;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Opens folders below an open root by paths of any length, without following links. A path that is too long for one
 * call is opened piece by piece, each in the one before it.
 */
final class FolderOpener {

    private static final byte[] ROOT_ITSELF = {'.'};

    /** Uses an open folder. */
    @FunctionalInterface
    interface Use<T> {
        T of(Kernel kernel, int opened) throws IOException;
    }

    private final Kernel kernel;
    private final int root;
    private final boolean byNames;

    FolderOpener(Kernel kernel, int root) {
        this(kernel, root, !knowsPaths(kernel, root));
    }

    /** @param byNames opens one name per call, for kernels that cannot exclude links in a whole path */
    FolderOpener(Kernel kernel, int root, boolean byNames) {
        this.kernel = kernel;
        this.root = root;
        this.byNames = byNames;
    }

    /** Opens a folder for reading; the caller closes it. Returns an error number as a negative value. */
    int open(FilePath path) {
        return open(path, true);
    }

    /** Opens a folder only to open what is in it: it need not be readable. */
    int openToPass(FilePath path) {
        return open(path, false);
    }

    /**
     * Opens a folder for reading while it is used.
     *
     * @param folder absolute; no link on its path is followed
     * @throws IOException if it does not exist, is not a folder, is behind a link, or cannot be read
     */
    static <T> T reading(Path folder, Use<T> use) throws IOException {
        if (!Kernel.isHere()) {
            throw new IOException("reading a folder requires Linux on x86-64 or aarch64");
        }
        FilePath path = FilePath.between(OpenFile.TOP, folder);
        try (Kernel kernel = new Kernel()) {
            int opened = Errno.checked(open(kernel, path, true), path);
            try {
                return use.of(kernel, opened);
            } finally {
                kernel.close(opened);
            }
        }
    }

    /**
     * Opens a folder by its path from the top of the file system; the caller closes it. Returns an error number as a
     * negative value.
     *
     * @param toRead false: only to open what is in it, which need not be readable
     */
    static int open(Kernel kernel, FilePath path, boolean toRead) {
        int top = kernel.openTop();
        if (top < 0) {
            return top;
        }
        try {
            return new FolderOpener(kernel, top).open(path, toRead);
        } finally {
            kernel.close(top);
        }
    }

    private int open(FilePath path, boolean toRead) {
        byte[] bytes = path.isRoot() ? ROOT_ITSELF : path.bytes();
        int folder = root;
        for (int start = 0; ; ) {
            int end = pieceEnd(bytes, start);
            boolean isLast = end == bytes.length;
            int next = byNames
                    ? kernel.openName(folder, bytes, start, end, isLast && toRead)
                    : kernel.openBelow(folder, bytes, start, end, isLast && toRead);
            if (folder != root) {
                kernel.close(folder);
            }
            if (isLast || next < 0) {
                return next;
            }
            folder = next;
            start = end + 1;
        }
    }

    private int pieceEnd(byte[] bytes, int start) {
        if (!byNames && bytes.length - start <= Kernel.PATH_BYTES_MAX) {
            return bytes.length;
        }
        int end = -1;
        for (int at = start; at < bytes.length && (end < 0 || at - start <= Kernel.PATH_BYTES_MAX); at++) {
            if (bytes[at] == '/') {
                end = at;
                if (byNames) {
                    return end;
                }
            }
        }
        return end < 0 ? bytes.length : end;
    }

    private static boolean knowsPaths(Kernel kernel, int root) {
        int opened = kernel.openBelow(root, ROOT_ITSELF, 0, 1, true);
        if (opened >= 0) {
            kernel.close(opened);
        }
        // Kernels before 5.6 do not know the call; some containers forbid unknown calls.
        return opened != -Errno.ENOSYS && opened != -Errno.EPERM;
    }
}
