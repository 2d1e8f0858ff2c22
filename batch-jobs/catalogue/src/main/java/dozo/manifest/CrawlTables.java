package dozo.manifest;

import dozo.file.Attributes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Collects the rows of a look at a source: for the tables {@code crawl} and {@code crawl_folder}, or, if there is no
 * manifest to compare with, for the final tables. Not thread-safe.
 */
final class CrawlTables implements AutoCloseable {

    /** Folders with at least this many entries get a negative number: their entries are also indexed by name. */
    private static final int LARGE_FOLDER = 5_000;

    private static final int TABLES = 5;

    private final int experimentId;
    private final boolean first;
    private final CopyTable rows;
    private final CopyTable links = copyInto("entry_link (experiment_id, entry_no, " + FolderRows.LINK_COLUMNS);
    private final CopyTable owners = copyInto("entry_owner (experiment_id, entry_no, " + FolderRows.OWNER_COLUMNS);
    private final CopyTable attributes = copyInto("entry_attribute (experiment_id, entry_no, attributes");
    private final CopyTable folders;
    private int lastNumber;
    private int lastRow;

    /** @param lastFolder the highest absolute number that a folder has or had */
    CrawlTables(int experimentId, boolean first, int lastFolder) {
        this.experimentId = experimentId;
        this.first = first;
        this.rows = copyInto(
                first
                        ? "entry (experiment_id, entry_no, directory_no, since_manifest, " + FolderRows.ENTRY_COLUMNS
                        : "crawl (row_no, directory_no, %s, %s, attributes"
                                .formatted(FolderRows.COLUMNS, FolderRows.OWNER_COLUMNS));
        this.folders = copyInto(
                first
                        ? "directory (experiment_id, directory_no, path, entries, fingerprint, first_entry_no, last_entry_no"
                        : "crawl_folder (directory_no, path, entries, fingerprint, complete");
        this.lastNumber = lastFolder;
    }

    private static CopyTable copyInto(String tableAndColumns) {
        return new CopyTable("copy %s) from stdin with (format binary)".formatted(tableAndColumns));
    }

    /** Returns the number of entries so far. */
    long rows() {
        return rows.count();
    }

    /** Returns the number of folders so far. */
    long folders() {
        return folders.count();
    }

    /** Adds the entries that a folder has collected, and gives the folder a number if it has none. */
    void addRows(FolderRows folder) throws IOException {
        if (folder.number == 0) {
            lastNumber++;
            folder.number = folder.entries < LARGE_FOLDER ? lastNumber : -lastNumber;
        }
        if (first) {
            addEntries(folder);
        } else {
            addForComparison(folder);
        }
    }

    private void addForComparison(FolderRows folder) throws IOException {
        folder.drain(told -> {
            CopyBytes row = rows.row(2 + FolderRows.COLUMN_COUNT + FolderRows.OWNER_COLUMN_COUNT + 1);
            row.field(++lastRow);
            row.field(folder.number);
            row.append(told.bytes(), told.start(), told.end() - told.start());
            put(row, told.attributes());
        });
    }

    private void addEntries(FolderRows folder) throws IOException {
        folder.firstNumber = folder.begun ? folder.firstNumber : lastRow + 1;
        folder.drain(told -> {
            CopyBytes row = rows.row(4 + FolderRows.ENTRY_COLUMN_COUNT);
            row.field(experimentId);
            row.field(++lastRow);
            row.field(folder.number);
            row.field(1);
            row.append(told.bytes(), told.start(), told.link() - told.start());
            if (told.hasLink()) {
                CopyBytes link = beside(links, FolderRows.LINK_COLUMN_COUNT);
                link.append(told.bytes(), told.link(), told.owner() - told.link());
            }
            if (told.hasOwner()) {
                CopyBytes owner = beside(owners, FolderRows.OWNER_COLUMN_COUNT);
                owner.append(told.bytes(), told.owner(), told.end() - told.owner());
            }
            if (!told.attributes().isEmpty()) {
                put(beside(attributes, 1), told.attributes());
            }
        });
        folder.lastNumber = lastRow;
    }

    /** Begins a row for the last entry in a table of what only some have. */
    private CopyBytes beside(CopyTable table, int columns) throws IOException {
        CopyBytes row = table.row(2 + columns);
        row.field(experimentId);
        row.field(lastRow);
        return row;
    }

    private static void put(CopyBytes row, Attributes attributes) {
        if (attributes.isEmpty()) {
            row.fieldNull();
        } else {
            row.field(attributes.namesAndValues());
        }
    }

    /** Adds a folder whose entries are all there. */
    void addFolder(FolderRows folder) throws IOException {
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

    /** Loads all rows of several looks in the caller's transaction: all first ones, or one other. */
    static void load(Connection connection, List<CrawlTables> looks) throws SQLException {
        try {
            for (int i = 0; i < TABLES; i++) {
                int table = i;
                CopyTable.load(
                        connection,
                        looks.stream().map(look -> look.all().get(table)).toList());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        all().forEach(CopyTable::close);
    }

    private List<CopyTable> all() {
        return List.of(rows, links, owners, attributes, folders);
    }
}
