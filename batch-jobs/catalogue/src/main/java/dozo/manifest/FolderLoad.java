package dozo.manifest;

import dozo.file.Attributes;
import dozo.file.Digest;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Owner;
import dozo.file.Problem;
import dozo.ledger.Findings.Finding;
import dozo.source.ExtendedAttributes;
import dozo.source.Listings;
import dozo.source.OpenFolder;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Receives what a source contains and compares it with the database folder by folder. An unchanged folder is recognised
 * by its fingerprint and costs one comparison. The entries of all other folders are collected for the table
 * {@code crawl}, or, if there is no manifest to compare with, for their final tables. Only their extended attributes are
 * read. Nothing is written to the database before {@link #load}, so no transaction is open while the source is read.
 *
 * <p>Several threads may report at once. One at a time stores rows; the others wait once they have a full batch.
 * Memory: a batch per thread, a bit per folder, the paths of unreadable entries, and some MiB of rows
 * ({@link CopyTable}).
 */
final class FolderLoad implements Listings, AutoCloseable {

    /** A batch of folders is looked up and stored together. */
    private static final int BATCH_FOLDERS = 1_000;

    private static final int BATCH_BYTES = 4 << 20;

    /** A folder with more bytes of rows is stored in parts, before its end. */
    private static final int FOLDER_BYTES = 4 << 20;

    /** The maximum number of findings; one more counts the rest. */
    private static final int FINDINGS_MAX = 10_000;

    /** The approximate memory of a folder, without its rows. */
    private static final int FOLDER_OVERHEAD_BYTES = 1 << 11;

    /** The clock of a file server may differ from ours, and sealing takes place after the look. */
    private static final long RECENT_NANOS = TimeUnit.DAYS.toNanos(1);

    private static final String LOOK_UP = """
            select q.n, d.directory_no, d.entries, d.fingerprint
            from unnest(?::bytea[]) with ordinality q (digest, n)
            cross join lateral (select directory_no, entries, fingerprint from directory
                                where experiment_id = ? and sha256(path) = q.digest
                                offset 0) d
            """;

    private final JdbcTemplate template;
    private final int experimentId;
    private final boolean first;
    private final CrawlTables tables;

    private final Map<FilePath, Listed> open = new ConcurrentHashMap<>();
    private final Set<FilePath> unreadable = ConcurrentHashMap.newKeySet();
    private boolean nothingKnown;
    private final Set<FilePath> lacking = ConcurrentHashMap.newKeySet();
    private final List<Finding> findings = new ArrayList<>();
    private long findingsLeftOut;

    private List<FolderRows> batch = new ArrayList<>();
    private long batchBytes;

    /** Where attributes are read; null: nowhere, because the entries come from a list. */
    private final @Nullable Path source;

    /** Entries that changed after this time may have got other attributes since the current manifest. */
    private final long recentNanos;

    /** The owner that entries have without a row of their own: the first one ever reported. */
    private final AtomicReference<@Nullable Owner> usual;

    /** Counts what is reported: while it grows, the source responds. */
    private final LongAdder told;

    /** Guards {@link #tables} and all fields below. */
    private final ReentrantLock keeping = new ReentrantLock();

    private final BitSet seen = new BitSet();
    private final Sums sums = new Sums();
    private final Known known;
    private int seenThere;

    static final class Sums {
        long files;
        long bytes;
        long folders;
        long links;

        private void add(FolderRows folder) {
            files += folder.files;
            bytes += folder.bytes;
            folders += folder.folders;
            links += folder.links;
        }

        long entries() {
            return files + folders + links;
        }
    }

    /**
     * @param source where extended attributes are read; null: they are not
     * @param told incremented by every report
     */
    FolderLoad(JdbcTemplate template, int experimentId, Known known, @Nullable Path source, LongAdder told) {
        this.template = template;
        this.experimentId = experimentId;
        this.known = known;
        this.first = known.manifest() == null;
        this.recentNanos = known.current()
                .map(manifest ->
                        TimeUnit.MILLISECONDS.toNanos(manifest.sealedAt().toEpochMilli()) - RECENT_NANOS)
                .orElse(Long.MIN_VALUE);
        this.usual = new AtomicReference<>(known.owner());
        this.source = source;
        this.told = told;
        this.tables = new CrawlTables(experimentId, first, known.lastFolder());
    }

    @Override
    public Listing folder(FilePath folder) {
        told.increment();
        Listed listed = new Listed(new FolderRows(folder));
        open.put(folder, listed);
        return listed;
    }

    @Override
    public void problem(FilePath path, Problem problem, String message) throws IOException, InterruptedException {
        note(path, problem, message);
        if (problem == Problem.UNREADABLE) {
            unreadable.add(path);
            // The parent gets no fingerprint: once this entry has vanished, an equal fingerprint would hide that.
            lacking.add(path.parent());
            Listed listed = open.get(path);
            if (listed != null) {
                listed.finish(false);
            }
        }
    }

    /** Ends the load. Folders without an end contain what was reported, and perhaps more. */
    void finish() throws IOException, InterruptedException {
        for (Listed listed : List.copyOf(open.values())) {
            unreadable.add(listed.folder.path);
            listed.finish(false);
        }
        take(batch);
    }

    /** Returns whether the source may differ from what the database knows; vanished folders count as a difference. */
    boolean differs() {
        return first || tables.folders() > 0 || known.foldersThere() > seenThere || newOwner() != null;
    }

    /** Returns the owner that entries have without a row of their own, if it is to be recorded; otherwise null. */
    @Nullable
    Owner newOwner() {
        return known.owner() == null ? usual.get() : null;
    }

    /** Returns whether folders that exist according to the database were not reported. */
    boolean lacksFolders() {
        return known.foldersThere() > seenThere;
    }

    /** Returns how many entries have to be compared. */
    long rows() {
        return tables.rows();
    }

    /** Loads the collected rows of several looks in the caller's transaction: of all first ones, or of one other. */
    static void load(Connection connection, List<FolderLoad> looks) throws SQLException {
        CrawlTables.load(connection, looks.stream().map(look -> look.tables).toList());
    }

    @Override
    public void close() {
        tables.close();
    }

    /** Notes that the source itself could not be read; nothing is known of its content. */
    void unreadableSource(IOException cause) {
        nothingKnown = true;
        unreadable.add(FilePath.ROOT);
        note(FilePath.ROOT, Problem.UNREADABLE, String.valueOf(cause.getMessage()));
    }

    /** Returns whether the source itself could not be read. */
    boolean nothingKnown() {
        return nothingKnown;
    }

    Sums sums() {
        return sums;
    }

    /** Returns the unreadable paths; nothing is known of them and of what is below them. */
    Set<FilePath> unreadable() {
        return unreadable;
    }

    /** Returns whether a folder with this number was reported. */
    boolean saw(int directoryNumber) {
        return seen.get(bit(directoryNumber));
    }

    /** Returns a folder's bit. No two folders' numbers differ only in their sign. */
    private static int bit(int directoryNumber) {
        return Math.abs(directoryNumber);
    }

    List<Finding> findings() {
        if (findingsLeftOut == 0) {
            return findings;
        }
        List<Finding> all = new ArrayList<>(findings);
        all.add(new Finding(
                experimentId, Problem.UNREADABLE, null, "more problems of this kind: %d".formatted(findingsLeftOut)));
        return all;
    }

    private synchronized void note(FilePath path, Problem problem, String message) {
        if (findings.size() < FINDINGS_MAX) {
            findings.add(new Finding(experimentId, problem, path, path + ": " + message));
        } else {
            findingsLeftOut++;
        }
    }

    private void add(FolderRows folder) throws IOException, InterruptedException {
        List<FolderRows> full;
        synchronized (this) {
            batch.add(folder);
            batchBytes += folder.lengthBytes() + FOLDER_OVERHEAD_BYTES;
            if (batch.size() < BATCH_FOLDERS && batchBytes < BATCH_BYTES) {
                return;
            }
            full = batch;
            batch = new ArrayList<>();
            batchBytes = 0;
        }
        take(full);
    }

    private void take(List<FolderRows> told) throws IOException, InterruptedException {
        List<FolderRows> changed = first || told.isEmpty() ? told : locked(() -> changed(told));
        for (FolderRows folder : changed) {
            readAttributes(folder);
        }
        locked(() -> {
            for (FolderRows folder : changed) {
                tables.addRows(folder);
                tables.addFolder(folder);
            }
            told.forEach(sums::add);
            return changed;
        });
    }

    private interface Locked<T> {
        T run() throws IOException;
    }

    private <T> T locked(Locked<T> work) throws IOException, InterruptedException {
        keeping.lockInterruptibly();
        try {
            return work.run();
        } finally {
            keeping.unlock();
        }
    }

    /**
     * Reads the attributes of a folder's entries. Of a large folder, whose rows are stored before it is known whether it
     * has changed, only those of entries that changed recently.
     */
    private void readAttributes(FolderRows folder) throws InterruptedException {
        if (source == null || folder.lengthBytes() == 0) {
            return;
        }
        boolean recentOnly = folder.there && (folder.begun || folder.lengthBytes() >= FOLDER_BYTES);
        try (OpenFolder held = OpenFolder.open(folder.path.under(source))) {
            folder.readAttributes(name -> attributes(held, folder.path, name), recentOnly);
        } catch (NoSuchFileException | ExtendedAttributes.Unsupported nothingToRead) {
            // The folder is gone, or its file system has no attributes.
        } catch (IOException e) {
            note(folder.path, Problem.UNREADABLE, "its extended attributes cannot be read: " + e.getMessage());
        }
    }

    private Attributes attributes(OpenFolder held, FilePath folder, byte[] name)
            throws IOException, InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        told.increment();
        try {
            return ExtendedAttributes.of(held, name);
        } catch (ExtendedAttributes.Unsupported e) {
            throw e;
        } catch (NoSuchFileException gone) {
            return Attributes.NONE;
        } catch (FileSystemException e) {
            note(
                    folder.resolve(name),
                    Problem.UNREADABLE,
                    "its ACLs and extended attributes are not recorded: " + e.getReason());
            return Attributes.NONE;
        }
    }

    /** Returns the folders that differ from the database and marks the known ones as seen. */
    private List<FolderRows> changed(List<FolderRows> told) {
        List<FolderRows> changed = new ArrayList<>();
        byte[][] fingerprints = lookUp(told);
        for (int i = 0; i < fingerprints.length; i++) {
            FolderRows folder = told.get(i);
            if (folder.known) {
                if (saw(folder.number)) {
                    throw new IllegalStateException("folder reported twice: " + folder.path);
                }
                seen.set(bit(folder.number));
                seenThere += folder.there ? 1 : 0;
            }
            byte[] fingerprint = folder.fingerprint();
            boolean same = folder.there && fingerprint != null && Arrays.equals(fingerprints[i], fingerprint);
            // NB: rows that were stored early must be compared, or they would count as new.
            if (folder.begun || !same) {
                changed.add(folder);
            }
        }
        return changed;
    }

    /** Looks up the folders' numbers and returns their fingerprints, null where there is none. */
    @SuppressWarnings("NullAway") // an array of nullable arrays
    private byte[][] lookUp(List<FolderRows> told) {
        byte[][] digests = new byte[told.size()][];
        byte[][] fingerprints = new byte[told.size()][];
        for (int i = 0; i < digests.length; i++) {
            digests[i] = Digest.ofContent(told.get(i).path.bytes()).bytes();
        }
        template.query(
                LOOK_UP,
                statement -> {
                    statement.setArray(1, statement.getConnection().createArrayOf("bytea", digests));
                    statement.setInt(2, experimentId);
                },
                found -> {
                    int i = found.getInt(1) - 1;
                    FolderRows folder = told.get(i);
                    folder.number = found.getInt(2);
                    folder.known = true;
                    found.getInt(3);
                    folder.there = !found.wasNull();
                    fingerprints[i] = found.getBytes(4);
                });
        return fingerprints;
    }

    private void keepEarly(FolderRows folder) throws IOException, InterruptedException {
        if (!first && folder.number == 0) {
            locked(() -> lookUp(List.of(folder)));
        }
        readAttributes(folder);
        locked(() -> {
            tables.addRows(folder);
            folder.begun = true;
            return folder;
        });
    }

    private final class Listed implements Listing {

        private final FolderRows folder;

        Listed(FolderRows folder) {
            this.folder = folder;
        }

        @Override
        public void entry(byte[] name, Facts facts) throws IOException, InterruptedException {
            told.increment();
            folder.add(name, facts, usual(facts), facts.changedNanos() >= recentNanos);
            if (folder.lengthBytes() >= FOLDER_BYTES) {
                keepEarly(folder);
            }
        }

        @Override
        public void end() throws IOException, InterruptedException {
            folder.lacking = lacking.contains(folder.path);
            finish(true);
        }

        /** Returns the usual owner; the first one that is reported, if there is none yet. */
        private @Nullable Owner usual(Facts facts) {
            Owner known = usual.get();
            if (known == null && facts.owner() != null) {
                usual.compareAndSet(null, facts.owner());
                known = usual.get();
            }
            return known;
        }

        private void finish(boolean complete) throws IOException, InterruptedException {
            if (open.remove(folder.path) != null) {
                folder.complete = complete;
                add(folder);
            }
        }
    }
}
