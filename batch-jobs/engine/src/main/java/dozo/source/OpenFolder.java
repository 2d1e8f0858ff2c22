package dozo.source;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A folder that is held open: the one that had the path when it was opened, whatever happens to the path later. No link
 * is followed on the way to it. Linux only, as {@link Crawl}; needs {@code /proc}.
 */
public final class OpenFolder implements AutoCloseable {

    private static final String MOUNT = "mnt_id:";

    private final int opened;

    private OpenFolder(int opened) {
        this.opened = opened;
    }

    /** Returns whether this machine can hold folders open. */
    public static boolean isPossible() {
        return Kernel.isHere();
    }

    /**
     * Opens a folder.
     *
     * @param folder absolute
     * @throws java.nio.file.NoSuchFileException if it does not exist
     * @throws IOException if it is not a folder, there is a link on the way, or it must not be entered
     */
    public static OpenFolder open(Path folder) throws IOException {
        FilePath path = FilePath.between(OpenFile.TOP, folder);
        return OpenFile.call(kernel -> new OpenFolder(OpenFile.checked(FolderOpener.open(kernel, path, false), path)));
    }

    /**
     * Opens a folder below another one.
     *
     * @param top absolute; may contain links, unlike {@code folder}
     * @throws IOException as {@link #open}
     */
    public static OpenFolder below(Path top, FilePath folder) throws IOException {
        return OpenFile.call(kernel -> {
            int above = OpenFile.checked(kernel.openPath(FilePath.rawBytes(top)), folder);
            try {
                return new OpenFolder(OpenFile.checked(new FolderOpener(kernel, above).openToPass(folder), folder));
            } finally {
                kernel.close(above);
            }
        });
    }

    /** Returns the path that gives access to its content until it is closed. */
    public Path path() {
        return Path.of("/proc/self/fd/" + opened);
    }

    /** Returns a number of the mount that it is in: no rename and no hard link leaves a mount, even within one file system. */
    public String mount() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/fdinfo/" + opened)).stream()
                .filter(line -> line.startsWith(MOUNT))
                .findFirst()
                .orElseThrow(() -> new IOException("the kernel does not say where a folder is mounted"));
    }

    @Override
    public void close() {
        OpenFile.close(opened);
    }
}
