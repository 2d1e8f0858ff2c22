package dozo.manifest;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What one folder was told to hold: its entries as they go into the database, their fingerprint and their sums. The change
 * time is no part of an entry: it moves without the content (ADR 0003).
 */
final class FolderRows {

    /** What every entry has, and what only some have, which is kept in a table of its own. */
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

    /** Columns of {@link #COLUMNS}. */
    static final int COLUMN_COUNT = ENTRY_COLUMN_COUNT + LINK_COLUMN_COUNT;

    /** Two nulls. */
    private static final int NO_LINK_BYTES = 2 * Integer.BYTES;

    /** Where a row's name begins, with its length: after four fields, each with its length. */
    private static final int NAME_AT = 4 * Integer.BYTES + Long.BYTES + Long.BYTES + Short.BYTES + 1;

    private static final int CAPACITY_BYTES = 2_048;

    final FilePath path;
    private final CopyBytes rows = new CopyBytes(CAPACITY_BYTES);
    private final Fingerprint fingerprint = new Fingerprint();

    /** Its number, 0 while that was not asked for. */
    int number;

    /** Whether the database had the folder already. */
    boolean known;

    /** Whether the database says that it is there. */
    boolean there;

    int entries;
    long files;
    long bytes;
    long folders;
    long links;

    /** Whether all that it holds was told: then what was not told is not there. */
    boolean complete;

    /** Whether something in it could not be looked at. */
    boolean lacking;

    /** Whether some of its rows were handed over before it had ended. */
    boolean begun;

    /** The lowest and the highest number that its entries got; 0: none yet. */
    int firstNumber;

    int lastNumber;

    FolderRows(FilePath path) {
        this.path = path;
    }

    /** A row is its length, so that the next one is found, and the fields, which is what the fingerprint is taken of. */
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

    /** The fields of {@link #COLUMNS}. */
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

    /** The fingerprint; null where something is not known of the folder: then it is looked at closely again. */
    byte @Nullable [] fingerprint() {
        return complete && !lacking ? fingerprint.bytes() : null;
    }

    /** Is told each row's fields. */
    interface Reader {
        /**
         * Takes one.
         *
         * @param linkOffset where the fields of {@link #LINK_COLUMNS} begin
         * @param end where the row ends
         */
        void row(byte[] bytes, int offset, int linkOffset, int end) throws IOException;
    }

    /** Whether what is from one place to the other has a value in {@link #LINK_COLUMNS}. */
    static boolean hasLink(int linkOffset, int end) {
        return end - linkOffset > NO_LINK_BYTES;
    }

    /** Hands over the rows and forgets them; fingerprint and sums stay. */
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
