package dozo.manifest;

import dozo.file.Digest;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.Finding;
import dozo.source.Listings;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Takes what a source holds into the database. A folder that holds what it held last time is recognised by its fingerprint and
 * costs a comparison; the entries of all others go into the table {@code crawl}, or, when there is no manifest to compare
 * with, straight to where they belong.
 *
 * <p>May be told by several threads at once; one at a time speaks with the database, the others wait once they have a batch
 * of their own. Memory: a batch for each thread, a bit for each folder, and the paths of what could not be read.
 */
final class FolderLoad implements Listings {

    /** A batch is looked up and sent as one. */
    private static final int BATCH_FOLDERS = 1_000;

    private static final int BATCH_BYTES = 4 << 20;

    /** A folder with more does not wait for its end. */
    private static final int FOLDER_BYTES = 4 << 20;

    /** From here on a folder has a number below zero: its entries are in an index by name, too. */
    private static final int LARGE_FOLDER = 5_000;

    /** A finding each is kept up to here; what comes after is counted in one more. */
    private static final int FINDINGS_MAX = 10_000;

    /** What a folder takes beside its rows, about. */
    private static final int FOLDER_OVERHEAD_BYTES = 1 << 11;

    private final int experimentId;
    private final boolean first;
    private final PreparedStatement lookUp;
    private final CopyTable rows;
    private final CopyTable links;
    private final CopyTable folders;
    private final Connection connection;

    private final Map<FilePath, Listed> open = new ConcurrentHashMap<>();
    private final Set<FilePath> unreadable = ConcurrentHashMap.newKeySet();
    private boolean nothingKnown;
    private final Set<FilePath> lacking = ConcurrentHashMap.newKeySet();
    private final List<Finding> findings = new ArrayList<>();
    private long findingsLeftOut;

    private List<FolderRows> batch = new ArrayList<>();
    private long batchBytes;

    /** Whoever holds it may use the connection and everything below. */
    private final ReentrantLock database = new ReentrantLock();

    private final BitSet seen = new BitSet();
    private final Sums sums = new Sums();
    private int lastNumber;
    private int lastRow;
    private int seenThere;

    /** What was told. */
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
     * @param first whether the experiment has no manifest yet: then there is nothing to compare with
     */
    FolderLoad(Connection connection, int experimentId, boolean first) throws SQLException {
        this.connection = connection;
        this.experimentId = experimentId;
        this.first = first;
        this.lookUp = connection.prepareStatement("""
                select q.n, d.directory_no, d.entries, d.fingerprint
                from unnest(?::bytea[]) with ordinality q (digest, n)
                cross join lateral (select directory_no, entries, fingerprint from directory
                                    where experiment_id = ? and sha256(path) = q.digest
                                    offset 0) d
                """);
        this.rows = copyInto(
                first
                        ? "entry (experiment_id, entry_no, directory_no, since_manifest, " + FolderRows.ENTRY_COLUMNS
                        : "crawl (row_no, directory_no, " + FolderRows.COLUMNS);
        this.links = copyInto("entry_link (experiment_id, entry_no, " + FolderRows.LINK_COLUMNS);
        this.folders = copyInto(
                first
                        ? "directory (experiment_id, directory_no, path, entries, fingerprint, first_entry_no, last_entry_no"
                        : "crawl_folder (directory_no, path, entries, fingerprint, complete");
        this.lastNumber = first ? 0 : lastNumber();
    }

    private CopyTable copyInto(String tableAndColumns) {
        return new CopyTable(connection, "copy %s) from stdin with (format binary)".formatted(tableAndColumns));
    }

    @Override
    public Listing folder(FilePath folder) {
        Listed listed = new Listed(new FolderRows(folder));
        open.put(folder, listed);
        return listed;
    }

    @Override
    public void problem(FilePath path, Problem problem, String message) throws IOException, InterruptedException {
        note(path, problem, message);
        if (problem == Problem.UNREADABLE) {
            unreadable.add(path);
            // A listing without it must never be taken for the whole: the day it is gone would pass unseen.
            lacking.add(path.parent());
            Listed listed = open.get(path);
            if (listed != null) {
                listed.finish(false);
            }
        }
    }

    /** Everything was told: what was begun and has no end holds what it was said to hold, and perhaps more. */
    void finish() throws IOException, InterruptedException, SQLException {
        for (Listed listed : List.copyOf(open.values())) {
            unreadable.add(listed.folder.path);
            listed.finish(false);
        }
        take(batch);
        rows.send();
        links.send();
        folders.send();
        lookUp.close();
    }

    /** The source itself could not be read: nothing is known of it. */
    void unreadableSource(IOException cause) {
        nothingKnown = true;
        unreadable.add(FilePath.ROOT);
        note(FilePath.ROOT, Problem.UNREADABLE, String.valueOf(cause.getMessage()));
    }

    /** Whether the source itself could not be read. */
    boolean nothingKnown() {
        return nothingKnown;
    }

    /** The sums of everything that was told. */
    Sums sums() {
        return sums;
    }

    /** What could not be looked at: of it and of what is below it, nothing is known. */
    Set<FilePath> unreadable() {
        return unreadable;
    }

    /** Whether a folder of this number was told. */
    boolean saw(int directoryNumber) {
        return seen.get(bit(directoryNumber));
    }

    /** No two folders' numbers differ in their sign only. */
    private static int bit(int directoryNumber) {
        return Math.abs(directoryNumber);
    }

    /** How many of the folders that are there by the database were told. */
    int seenThere() {
        return seenThere;
    }

    List<Finding> findings() {
        if (findingsLeftOut == 0) {
            return findings;
        }
        List<Finding> all = new ArrayList<>(findings);
        all.add(new Finding(
                experimentId, Problem.UNREADABLE, null, "and %d more of the kind".formatted(findingsLeftOut)));
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
        database.lockInterruptibly();
        try {
            List<FolderRows> changed = first ? told : changed(told);
            for (FolderRows folder : changed) {
                sendRows(folder);
                sendFolder(folder);
            }
            told.forEach(sums::add);
        } catch (SQLException e) {
            throw new IOException(e);
        } finally {
            database.unlock();
        }
    }

    /** Those that are not what the database says; the others are marked as seen and that was all. */
    private List<FolderRows> changed(List<FolderRows> told) throws SQLException {
        List<FolderRows> changed = new ArrayList<>();
        byte[][] fingerprints = lookUp(told);
        for (int i = 0; i < fingerprints.length; i++) {
            FolderRows folder = told.get(i);
            if (folder.known) {
                if (saw(folder.number)) {
                    throw new IllegalStateException("told twice: " + folder.path);
                }
                seen.set(bit(folder.number));
                seenThere += folder.there ? 1 : 0;
            }
            byte[] fingerprint = folder.fingerprint();
            boolean same = folder.there && fingerprint != null && Arrays.equals(fingerprints[i], fingerprint);
            // NB: rows that were sent already have to be compared, or they would be taken for new ones.
            if (folder.begun || !same) {
                changed.add(folder);
            }
        }
        return changed;
    }

    /** Asks for the folders' numbers; gives back the fingerprints, null where there is none. */
    @SuppressWarnings("NullAway") // an array of nullable arrays
    private byte[][] lookUp(List<FolderRows> told) throws SQLException {
        byte[][] digests = new byte[told.size()][];
        byte[][] fingerprints = new byte[told.size()][];
        for (int i = 0; i < digests.length; i++) {
            digests[i] = Digest.ofContent(told.get(i).path.bytes()).bytes();
        }
        lookUp.setArray(1, connection.createArrayOf("bytea", digests));
        lookUp.setInt(2, experimentId);
        try (ResultSet found = lookUp.executeQuery()) {
            while (found.next()) {
                int i = found.getInt(1) - 1;
                FolderRows folder = told.get(i);
                folder.number = found.getInt(2);
                folder.known = true;
                found.getInt(3);
                folder.there = !found.wasNull();
                fingerprints[i] = found.getBytes(4);
            }
        }
        return fingerprints;
    }

    private void sendRows(FolderRows folder) throws SQLException {
        if (folder.number == 0) {
            lastNumber++;
            folder.number = folder.entries < LARGE_FOLDER ? lastNumber : -lastNumber;
        }
        if (first) {
            sendEntries(folder);
        } else {
            folder.drain((bytes, offset, linkOffset, end) -> {
                CopyBytes row = rows.row(2 + FolderRows.COLUMN_COUNT);
                row.field(++lastRow);
                row.field(folder.number);
                row.append(bytes, offset, end - offset);
            });
        }
    }

    private void sendEntries(FolderRows folder) throws SQLException {
        folder.firstNumber = folder.begun ? folder.firstNumber : lastRow + 1;
        folder.drain((bytes, offset, linkOffset, end) -> {
            CopyBytes row = rows.row(4 + FolderRows.ENTRY_COLUMN_COUNT);
            row.field(experimentId);
            row.field(++lastRow);
            row.field(folder.number);
            row.field(1);
            row.append(bytes, offset, linkOffset - offset);
            if (FolderRows.hasLink(linkOffset, end)) {
                CopyBytes link = links.row(2 + FolderRows.LINK_COLUMN_COUNT);
                link.field(experimentId);
                link.field(lastRow);
                link.append(bytes, linkOffset, end - linkOffset);
            }
        });
        folder.lastNumber = lastRow;
    }

    private void sendFolder(FolderRows folder) throws SQLException {
        CopyBytes row = folders.row(first ? 7 : 5);
        if (first) {
            row.field(experimentId);
        }
        row.field(folder.number);
        row.field(folder.known ? null : folder.path.bytes());
        row.field(folder.entries);
        row.field(folder.fingerprint());
        if (first) {
            row.field(folder.firstNumber);
            row.field(folder.lastNumber);
        } else {
            row.field(folder.complete);
        }
    }

    private void sendEarly(FolderRows folder) throws IOException, InterruptedException {
        database.lockInterruptibly();
        try {
            if (!first && folder.number == 0) {
                lookUp(List.of(folder));
            }
            sendRows(folder);
            folder.begun = true;
        } catch (SQLException e) {
            throw new IOException(e);
        } finally {
            database.unlock();
        }
    }

    private int lastNumber() throws SQLException {
        try (PreparedStatement last = connection.prepareStatement(
                "select greatest(max(directory_no), -min(directory_no)) from directory where experiment_id = ?")) {
            last.setInt(1, experimentId);
            try (ResultSet row = last.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    private final class Listed implements Listing {

        private final FolderRows folder;

        Listed(FolderRows folder) {
            this.folder = folder;
        }

        @Override
        public void entry(byte[] name, Facts facts) throws IOException, InterruptedException {
            folder.add(name, facts);
            if (folder.lengthBytes() >= FOLDER_BYTES) {
                sendEarly(folder);
            }
        }

        @Override
        public void end() throws IOException, InterruptedException {
            folder.lacking = lacking.contains(folder.path);
            finish(true);
        }

        private void finish(boolean complete) throws IOException, InterruptedException {
            if (open.remove(folder.path) != null) {
                folder.complete = complete;
                add(folder);
            }
        }
    }
}
