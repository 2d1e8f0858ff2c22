package dozo.manifest;

import dozo.file.Attributes;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Owner;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
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

    /** What a walk also reports; null: the owner of {@code experiment_owner}. */
    static final String OWNER_COLUMNS = "uid, gid";

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
    static final int OWNER_COLUMN_COUNT = 2;

    /** The number of columns in {@link #COLUMNS}. */
    static final int COLUMN_COUNT = ENTRY_COLUMN_COUNT + LINK_COLUMN_COUNT;

    /** The length of two nulls. */
    private static final int NOTHING_BYTES = 2 * Integer.BYTES;

    /** The user and group of an unknown owner; the system itself has no such numbers. */
    private static final long UNKNOWN = -1;

    /** The offset of a row's name, with its length: after four fields, each with its length. */
    private static final int NAME_AT = 4 * Integer.BYTES + Long.BYTES + Long.BYTES + Short.BYTES + 1;

    private static final int CAPACITY_BYTES = 2_048;

    final FilePath path;
    private final CopyBytes rows = new CopyBytes(CAPACITY_BYTES);
    private final Fingerprint fingerprint = new Fingerprint();

    /** Which of the rows, by their order, changed recently. */
    private final BitSet recent = new BitSet();

    private int rowCount;

    /** The attributes of entries, by where their rows begin. */
    private final Map<Integer, Attributes> attributes = new HashMap<>();

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
     * Adds an entry. A row is its length, by which the next row is found, and the fields. They enter the fingerprint;
     * the owner only if it is not the usual one, so that folders sealed before owners were recorded stay unchanged.
     *
     * @param usual the owner of most entries; null: none is known
     * @param changedRecently whether its attributes may have changed since the current manifest
     */
    void add(byte[] name, Facts facts, @Nullable Owner usual, boolean changedRecently) {
        int start = rows.length();
        rows.plainInt(0);
        put(rows, name, facts);
        int owner = rows.length();
        put(rows, facts.owner(), usual);
        int end = hasValue(owner, rows.length()) ? rows.length() : owner;
        fingerprint.add(rows.bytes(), start + Integer.BYTES, end - start - Integer.BYTES);
        rows.putInt(start, rows.length() - start - Integer.BYTES);
        recent.set(rowCount++, changedRecently);
        entries++;
        bytes += facts.sizeBytes();
        count(facts.kind());
    }

    /** Appends the fields of {@link #OWNER_COLUMNS}. */
    private static void put(CopyBytes row, @Nullable Owner owner, @Nullable Owner usual) {
        if (usual == null || usual.equals(owner)) {
            row.fieldNull();
            row.fieldNull();
        } else {
            row.field(owner == null ? UNKNOWN : owner.user());
            row.field(owner == null ? UNKNOWN : owner.group());
        }
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

    interface AttributesOf {
        Attributes name(byte[] name) throws IOException, InterruptedException;
    }

    /** Reads the attributes of all entries whose rows are here, or only of those that changed recently. */
    void readAttributes(AttributesOf reader, boolean recentOnly) throws IOException, InterruptedException {
        int n = 0;
        for (int at = 0; at < rows.length(); at += Integer.BYTES + rows.intAt(at)) {
            if (!recentOnly || recent.get(n)) {
                int name = at + Integer.BYTES + NAME_AT;
                int start = name + Integer.BYTES;
                Attributes read = reader.name(Arrays.copyOfRange(rows.bytes(), start, start + rows.intAt(name)));
                if (!read.isEmpty()) {
                    attributes.put(at, read);
                }
            }
            n++;
        }
    }

    /**
     * A row.
     *
     * @param start where the fields of {@link #ENTRY_COLUMNS} begin, {@code link} those of {@link #LINK_COLUMNS},
     *     {@code owner} those of {@link #OWNER_COLUMNS}
     * @param end where the row ends
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Row(byte[] bytes, int start, int link, int owner, int end, Attributes attributes) {

        /** Returns whether there is a value for {@link #LINK_COLUMNS}. */
        boolean hasLink() {
            return hasValue(link, owner);
        }

        /** Returns whether there is a value for {@link #OWNER_COLUMNS}. */
        boolean hasOwner() {
            return hasValue(owner, end);
        }
    }

    interface Reader {
        void row(Row row) throws IOException;
    }

    /** Returns whether the two fields between two offsets have a value. */
    private static boolean hasValue(int start, int end) {
        return end - start > NOTHING_BYTES;
    }

    /** Passes on the rows and forgets them; fingerprint and sums stay. */
    void drain(Reader reader) throws IOException {
        for (int at = 0; at < rows.length(); ) {
            int row = at + Integer.BYTES;
            int end = row + rows.intAt(at);
            int link = fieldEnd(row + NAME_AT);
            int owner = fieldEnd(fieldEnd(link));
            reader.row(new Row(rows.bytes(), row, link, owner, end, attributes.getOrDefault(at, Attributes.NONE)));
            at = end;
        }
        rows.clear();
        rowCount = 0;
        recent.clear();
        attributes.clear();
    }

    private int fieldEnd(int field) {
        return field + Integer.BYTES + Math.max(0, rows.intAt(field));
    }

    private void count(EntryKind kind) {
        switch (kind) {
            case FILE -> files++;
            case DIRECTORY -> folders++;
            case LINK -> links++;
        }
    }
}
