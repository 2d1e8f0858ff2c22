package dozo.source;

import dozo.file.EntryKind;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A part of a folder's content, enough to see what kind of folder it is. No link is followed, neither on the way to the
 * root nor below it. Linux only, as {@link Crawl}.
 *
 * @param files the names of files, in no order
 * @param folders the names of folders; links, sockets, devices and fifos are in neither list
 * @param whole whether the folder contains nothing more
 */
public record Glimpse(List<byte[]> files, List<byte[]> folders, boolean whole) {

    private static final Path TOP = Path.of("/");

    /**
     * Looks into a folder.
     *
     * @param root absolute, without links
     * @param folder below it
     * @param namesMax the limit of names to read
     * @throws IOException if it does not exist, is not a folder, is behind a link, or cannot be read
     */
    public static Glimpse of(Path root, FilePath folder, int namesMax) throws IOException {
        if (!Kernel.isHere()) {
            throw new IOException("reading a folder requires Linux on x86-64 or aarch64");
        }
        try (Kernel kernel = new Kernel()) {
            int top = Errno.checked(kernel.openTop(), folder);
            try {
                FilePath way = FilePath.between(TOP, root);
                FilePath path = folder.isRoot() ? way : way.resolve(folder);
                int opened = Errno.checked(new FolderOpener(kernel, top).open(path), folder);
                try {
                    return read(kernel, opened, folder, namesMax);
                } finally {
                    kernel.close(opened);
                }
            } finally {
                kernel.close(top);
            }
        }
    }

    private static Glimpse read(Kernel kernel, int opened, FilePath folder, int namesMax) throws IOException {
        List<byte[]> files = new ArrayList<>();
        List<byte[]> folders = new ArrayList<>();
        int names = 0;
        int bytes = Errno.checked(kernel.readFolder(opened), folder);
        while (bytes > 0) {
            for (int at = 0; at < bytes; at += kernel.recordBytes(at)) {
                byte[] name = kernel.name(at);
                if (!CrawlWorker.isDots(name)) {
                    if (++names > namesMax) {
                        return new Glimpse(files, folders, false);
                    }
                    // Names that vanished meanwhile, or may not be looked up, are in neither list.
                    EntryKind kind = kernel.lookAt(opened, at) < 0
                            ? EntryKind.LINK
                            : kernel.kind().orElse(EntryKind.LINK);
                    switch (kind) {
                        case FILE -> files.add(name);
                        case DIRECTORY -> folders.add(name);
                        case LINK -> {}
                    }
                }
            }
            bytes = Errno.checked(kernel.readFolder(opened), folder);
        }
        return new Glimpse(files, folders, true);
    }
}
