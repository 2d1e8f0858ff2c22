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

    /**
     * Looks into a folder.
     *
     * @param root absolute, without links
     * @param folder below it
     * @param namesMax the limit of names to read
     * @throws IOException if it does not exist, is not a folder, is behind a link, or cannot be read
     */
    public static Glimpse of(Path root, FilePath folder, int namesMax) throws IOException {
        return FolderOpener.reading(folder.under(root), (kernel, opened) -> read(kernel, opened, folder, namesMax));
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
