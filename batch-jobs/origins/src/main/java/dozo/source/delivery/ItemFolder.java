package dozo.source.delivery;

import dozo.file.FilePath;
import dozo.source.delivery.Fetching.Arrived;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The folder of one item in a spool:
 *
 * <pre>
 * SPOOL/ITEM/tree/…        what is backed up
 * SPOOL/ITEM/incoming/…    temporary files, with names made of ids
 * SPOOL/ITEM/delivered     the record of the files in the tree
 * </pre>
 *
 * Nothing in a tree is ever removed (ADR 0045). Only one thread at a time may deliver an item.
 */
public final class ItemFolder implements Closeable {

    /** Downloads of a file whose content differs from the list; a second difference is not a network error. */
    private static final int LOOKS = 2;

    private final Path incoming;
    private final Path tree;
    private final Delivered delivered;
    private final Set<Path> named = new HashSet<>();

    /** The result of a delivery. */
    public record Came(Collection<? extends ListedFile> told, List<Item> missing, long bytesFetched) {

        /**
         * Returns the reconciliation of the item.
         *
         * @param unread what else is missing, for example because it cannot be listed
         */
        public Reconciliation reconciled(String item, String label, Collection<Item> unread, List<Item> remarks) {
            return new Reconciliation(
                    item,
                    label,
                    told.size(),
                    told.size() - missing.size(),
                    ListedFile.bytes(told),
                    bytesFetched,
                    Stream.of(unread, missing)
                            .flatMap(Collection::stream)
                            .sorted(Comparator.comparing(Item::name))
                            .toList(),
                    remarks);
        }
    }

    /** The result for one file: either {@code arrived} or {@code failed} is null. */
    private record Fetched<W>(
            W wanted,
            Part part,
            @Nullable Arrived arrived,
            @Nullable DeliveryException failed) {}

    /** The content of a file of our own. */
    @FunctionalInterface
    public interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    private ItemFolder(Path home, Delivered delivered) {
        this.incoming = home.resolve("incoming");
        this.tree = tree(home);
        this.delivered = delivered;
    }

    /** Returns the folder that is the item's experiment. */
    public static Path tree(Path home) {
        return home.resolve("tree");
    }

    /**
     * Opens an item's folder, and creates it if it does not exist.
     *
     * @param noteForm a regular expression for the origin's field in a line of {@code delivered}
     */
    public static ItemFolder open(Path home, String noteForm) throws DeliveryException {
        try {
            Path tree = Files.createDirectories(tree(home));
            return new ItemFolder(home, Delivered.in(home, tree, noteForm));
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
    }

    public Delivered delivered() {
        return delivered;
    }

    /** Returns where a file of the tree is. */
    public Path at(FilePath path) {
        return path.under(tree);
    }

    /**
     * Downloads the files that are not here yet.
     *
     * @param atOnce how many files are downloaded in parallel
     * @param endsAll troubles that prevent every other download too
     * @throws DeliveryException if no other download is possible either; files that have arrived by then are kept
     */
    public <W extends ListedFile> Came bring(Collection<W> told, int atOnce, Set<Trouble> endsAll, Fetching<W> origin)
            throws DeliveryException, InterruptedException {
        try {
            sweep(told);
            try {
                return bringAll(told, atOnce, endsAll, origin);
            } finally {
                syncNames();
            }
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
    }

    private <W extends ListedFile> Came bringAll(
            Collection<W> told, int atOnce, Set<Trouble> endsAll, Fetching<W> origin)
            throws IOException, InterruptedException {
        List<W> asked = new ArrayList<>();
        for (W wanted : told) {
            if (!delivered.has(wanted)) {
                asked.add(wanted);
            }
        }
        // In a fixed order, failures at the start could prevent all later files from ever being tried.
        Collections.shuffle(asked);
        Patience patience = new Patience();
        List<Item> missing = new ArrayList<>();
        long fetched = 0;
        // NB: close() waits for running downloads, so that none writes here after this method returns.
        try (ExecutorService threads =
                Executors.newFixedThreadPool(atOnce, Thread.ofVirtual().factory())) {
            CompletionService<Fetched<W>> coming = new ExecutorCompletionService<>(threads);
            asked.forEach(wanted -> coming.submit(() -> fetch(wanted, origin, patience)));
            try {
                // Handles files in order of arrival, so that a kill costs only downloads under way, not those waiting
                // behind a slow one.
                for (int i = 0; i < asked.size(); i++) {
                    Fetched<W> one = coming.take().get();
                    DeliveryException failed = one.failed();
                    if (failed != null && endsAll.contains(failed.trouble())) {
                        throw failed;
                    } else if (failed != null) {
                        missing.add(one.wanted().item(failed.trouble(), failed.message()));
                    } else if (one.arrived() != null) {
                        fetched += one.part().sizeBytes();
                        delivered.add(one.arrived().name());
                    }
                }
            } catch (ExecutionException e) {
                throw new IllegalStateException(e.getCause());
            } finally {
                threads.shutdownNow();
            }
        }
        return new Came(told, missing, fetched);
    }

    private <W extends ListedFile> Fetched<W> fetch(W wanted, Fetching<W> origin, Patience patience)
            throws InterruptedException {
        Part part = new Part(incoming.resolve(partName(wanted)));
        try {
            return new Fetched<>(wanted, part, patience.ask(() -> look(wanted, part, origin)), null);
        } catch (IOException e) {
            return new Fetched<>(wanted, part, null, DeliveryException.ofSpool(e));
        }
    }

    private static <W extends ListedFile> Arrived look(W wanted, Part part, Fetching<W> origin)
            throws IOException, InterruptedException {
        for (int look = 1; ; look++) {
            try {
                return origin.fetch(wanted, part);
            } catch (DeliveryException e) {
                if (!e.trouble().isOtherContent()) {
                    throw e;
                }
                part.discard();
                if (look == LOOKS) {
                    throw e;
                }
            }
        }
    }

    /**
     * Writes a file of our own into the tree, whole or not at all, and without a line in the record. A file with the
     * same bytes is not touched.
     *
     * @throws DeliveryException if the spool cannot be written
     */
    public void replace(FilePath path, Content content) throws DeliveryException {
        Part part = new Part(incoming.resolve(path.toString()));
        try {
            Files.createDirectories(incoming);
            try (FileOutputStream file = new FileOutputStream(part.path().toFile())) {
                BufferedOutputStream out = new BufferedOutputStream(file);
                content.writeTo(out);
                out.flush();
                file.getFD().sync();
            }
            if (Files.isRegularFile(at(path), LinkOption.NOFOLLOW_LINKS) && Files.mismatch(part.path(), at(path)) < 0) {
                part.discard();
            } else {
                name(part, path);
                syncNames();
            }
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
    }

    /** Gives a file its final name and replaces the file that has it. The bytes must be on the disk already. */
    public void name(Part part, FilePath path) throws IOException {
        Path end = at(path);
        Files.createDirectories(end.getParent());
        Files.move(part.path(), end, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        named.add(end.getParent());
    }

    /** Syncs the folders with new names, once per folder: a lost name costs only one more download. */
    private void syncNames() throws IOException {
        for (Path folder : named) {
            try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
                channel.force(true);
            }
        }
    }

    /** Removes temporary files that are no longer needed, for example those of earlier versions. */
    private void sweep(Collection<? extends ListedFile> told) throws IOException {
        if (!Files.isDirectory(incoming)) {
            return;
        }
        Set<String> wanted = told.stream().map(ItemFolder::partName).collect(Collectors.toSet());
        try (DirectoryStream<Path> parts = Files.newDirectoryStream(incoming)) {
            for (Path part : parts) {
                if (!wanted.contains(part.getFileName().toString())) {
                    Files.delete(part);
                }
            }
        }
    }

    private static String partName(ListedFile wanted) {
        return wanted.id() + "." + wanted.mark();
    }

    @Override
    public void close() throws DeliveryException {
        try {
            delivered.close();
        } catch (IOException e) {
            throw DeliveryException.ofSpool(e);
        }
    }
}
