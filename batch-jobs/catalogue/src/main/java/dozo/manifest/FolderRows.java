package dozo.manifest;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The reported content of one folder: its entries as database rows, their fingerprint and their sums. The change time
 * is not part of an entry, because it changes without the content (ADR 0019).
 */
final class FolderRows {

    /** The columns of every entry. Those that only some entries have are in a separate table. */
    static final String ENTRY_COLUMNS = "size_bytes, modified_ns, mode, kind, name";

    static final String LINK_COLUMNS = "hard_link, link_target";

    static final String COLUMNS = ENTRY_COLUMNS + ", " + LINK_COLUMNS;

    /** {@link #COLUMNS} of a temporary table, with their types. */
    static final String DEFINITIONS = """
            size_bytes bigint not null,
            modified_ns bigint not null,
            mode smallint not null,
            kind "char" not null,
            name bytea not null,
            hard_link bigint,
            link_target bytea
            """;

    static final int ENTRY_COLUMN_COUNT = 5;
    static final int LINK_COLUMN_COUNT = 2;

    /** The number of columns in {@link #COLUMNS}. */
    static final int COLUMN_COUNT = ENTRY_COLUMN_COUNT + LINK_COLUMN_COUNT;

    /** The length of two nulls. */
    private static final int NO_LINK_BYTES = 2 * Integer.BYTES;

    /** The offset of a row's name, with its length: after four fields, each with its length. */
    private static final int NAME_AT = 4 * Integer.BYTES + Long.BYTES + Long.BYTES + Short.BYTES + 1;

    private static final int CAPACITY_BYTES = 2_048;

    final FilePath path;
    private final CopyBytes rows = new CopyBytes(CAPACITY_BYTES);
    private final Fingerprint fingerprint = new Fingerprint();

    /** The folder's number; 0 before it is looked up. */
    int number;

    /** Whether the database already had the folder. */
    boolean known;

    /** Whether the folder exists according to the database. */
    boolean there;

    int entries;
    long files;
    long bytes;
    long folders;
    long links;

    /** Whether its whole content was reported: then an entry that was not reported does not exist. */
    boolean complete;

    /** Whether an entry of it could not be read. */
    boolean lacking;

    /** Whether some of its rows were stored before its end. */
    boolean begun;

    /** The lowest and the highest number of its entries; 0: none yet. */
    int firstNumber;

    int lastNumber;

    FolderRows(FilePath path) {
        this.path = path;
    }

    /**
     * Adds an entry. A row is its length, by which the next row is found, and the fields, which enter the fingerprint.
     */
    void add(byte[] name, Facts facts) {
        int start = rows.length();
        rows.plainInt(0);
        put(rows, name, facts);
        int length = rows.length() - start - Integer.BYTES;
        rows.putInt(start, length);
        fingerprint.add(rows.bytes(), start + Integer.BYTES, length);
        entries++;
        bytes += facts.sizeBytes();
        count(facts.kind());
    }

    /** Appends the fields of {@link #COLUMNS}. */
    static void put(CopyBytes row, byte[] name, Facts facts) {
        row.field(facts.sizeBytes());
        row.field(facts.modifiedNanos());
        row.field((short) facts.mode());
        row.field(facts.kind().code());
        row.field(name);
        row.field(facts.hardLink());
        row.field(facts.linkTarget());
    }

    int lengthBytes() {
        return rows.length();
    }

    /**
     * Returns the fingerprint; null if something in the folder is unknown, so that the next look compares its entries.
     */
    byte @Nullable [] fingerprint() {
        return complete && !lacking ? fingerprint.bytes() : null;
    }

    /** Receives the fields of each row. */
    interface Reader {
        /**
         * Receives one row.
         *
         * @param linkOffset where the fields of {@link #LINK_COLUMNS} begin
         * @param end where the row ends
         */
        void row(byte[] bytes, int offset, int linkOffset, int end) throws IOException;
    }

    /** Returns whether the bytes between two offsets have a value in {@link #LINK_COLUMNS}. */
    static boolean hasLink(int linkOffset, int end) {
        return end - linkOffset > NO_LINK_BYTES;
    }

    /** Passes on the rows and forgets them; fingerprint and sums stay. */
    void drain(Reader reader) throws IOException {
        for (int at = 0; at < rows.length(); ) {
            int row = at + Integer.BYTES;
            int end = row + rows.intAt(at);
            int name = row + NAME_AT;
            reader.row(rows.bytes(), row, name + Integer.BYTES + rows.intAt(name), end);
            at = end;
        }
        rows.clear();
    }

    private void count(EntryKind kind) {
        switch (kind) {
            case FILE -> files++;
            case DIRECTORY -> folders++;
            case LINK -> links++;
        }
    }
}
