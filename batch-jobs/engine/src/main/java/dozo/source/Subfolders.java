package dozo.source;

import dozo.file.EntryKind;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.Stream;

/**
 * A page of the folders and links in a folder, by name, for people who look for one. Only names are read: what hangs
 * below one of them does not hang the list. No link is followed. Linux only, as {@link Crawl}.
 *
 * @param names in the order of their bytes; on a file system that does not tell kinds, also those of files
 * @param others how many other names the folder has: files, sockets, devices and fifos
 * @param more whether there are further names after these
 */
public record Subfolders(List<Name> names, long others, boolean more) {

    private static final Comparator<Name> ORDER = Comparator.comparing(Name::bytes, Arrays::compareUnsigned);

    /** The name of a folder or a link. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Name(byte[] bytes, boolean link) {}

    /**
     * Reads a page.
     *
     * @param folder absolute, without links
     * @param after the page begins after this name; empty: with the first
     * @param limit how many names; a folder of any size is read with the memory for these
     * @throws IOException if it does not exist, is not a folder, is behind a link, or cannot be read
     */
    public static Subfolders of(Path folder, byte[] after, int limit) throws IOException {
        return FolderOpener.reading(
                folder, (kernel, opened) -> read(kernel, opened, FilePath.between(OpenFile.TOP, folder), after, limit));
    }

    private static Subfolders read(Kernel kernel, int opened, FilePath folder, byte[] after, int limit)
            throws IOException {
        PriorityQueue<Name> first = new PriorityQueue<>(ORDER.reversed());
        long others = 0;
        boolean more = false;
        int bytes = Errno.checked(kernel.readFolder(opened), folder);
        while (bytes > 0) {
            for (int at = 0; at < bytes; at += kernel.recordBytes(at)) {
                boolean link = kernel.isLink(at);
                byte[] name = kernel.name(at);
                if (!link && !kernel.mayBeFolder(at)) {
                    others++;
                } else if (!CrawlWorker.isDots(name) && Arrays.compareUnsigned(name, after) > 0) {
                    first.add(new Name(name, link));
                }
                if (first.size() > limit) {
                    first.remove();
                    more = true;
                }
            }
            bytes = Errno.checked(kernel.readFolder(opened), folder);
        }
        return new Subfolders(
                Stream.generate(first::poll).limit(first.size()).toList().reversed(), others, more);
    }

    /**
     * Returns when a folder was changed last.
     *
     * @param folder absolute; no link on its path is followed
     * @throws IOException as {@link #of}
     */
    public static Instant changed(Path folder) throws IOException {
        return FolderOpener.reading(folder, (kernel, opened) -> {
            FilePath path = FilePath.between(OpenFile.TOP, folder);
            Errno.checked(kernel.lookAtOpen(opened), path);
            return Instant.EPOCH.plusNanos(
                    kernel.facts(EntryKind.DIRECTORY, null).modifiedNanos());
        });
    }
}
