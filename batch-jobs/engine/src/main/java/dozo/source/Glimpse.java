package dozo.source;

import dozo.file.EntryKind;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Some of what one folder holds: for somebody who wants to know what kind of folder it is, and not all that is in it. No link is
 * followed, neither on the way to the root, nor below it. Linux only, as {@link Crawl}.
 *
 * @param files the names of files, in no order
 * @param folders the names of folders; links, sockets, devices and fifos are in neither
 * @param whole whether the folder holds nothing more
 */
public record Glimpse(List<byte[]> files, List<byte[]> folders, boolean whole) {

    private static final Path TOP = Path.of("/");

    /**
     * Looks into a folder.
     *
     * @param root absolute, without links
     * @param folder below it
     * @param namesMax so many names are read at most
     * @throws IOException when it is not there, is no folder, lies behind a link, or cannot be read
     */
    public static Glimpse of(Path root, FilePath folder, int namesMax) throws IOException {
        if (!Kernel.isHere()) {
            throw new IOException("looking into a folder needs Linux on x86-64 or aarch64");
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
                    // What is gone meanwhile, or may not be looked at, is neither.
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
