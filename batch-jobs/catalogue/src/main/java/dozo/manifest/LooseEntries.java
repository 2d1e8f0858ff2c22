package dozo.manifest;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.source.Listed;
import dozo.source.Listings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Entries told in any order, sorted by folder in a temporary table, and told on folder by folder. A path told twice counts
 * once, as it was told last. Not for several threads.
 */
final class LooseEntries implements Listed {

    private static final int FETCH = 1_000;

    private final Connection connection;
    private final Path source;
    private final Listings listings;
    private final CopyTable loose;
    private int ordinal;
    private boolean lacking;

    LooseEntries(Connection connection, Path source, Listings listings) throws SQLException {
        this.connection = connection;
        this.source = source;
        this.listings = listings;
        this.loose = new CopyTable(
                connection,
                "copy loose (ordinal, directory, %s) from stdin with (format binary)".formatted(FolderRows.COLUMNS));
        try (Statement statement = connection.createStatement()) {
            statement.execute("drop table if exists loose");
            statement.execute("""
                    create temporary table loose (
                        ordinal integer not null,
                        directory bytea not null,
                        size_bytes bigint not null,
                        modified_ns bigint not null,
                        mode smallint not null,
                        kind "char" not null,
                        name bytea not null,
                        hard_link bigint,
                        link_target bytea
                    ) on commit drop
                    """);
        }
    }

    @Override
    public void entry(FilePath path, Facts facts) throws IOException {
        try {
            CopyBytes row = loose.row(2 + FolderRows.COLUMN_COUNT);
            row.field(++ordinal);
            row.field(path.parent().bytes());
            FolderRows.put(row, path.name(), facts);
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    @Override
    public void problem(long line, @Nullable FilePath path, Problem problem, String message)
            throws IOException, InterruptedException {
        lacking |= problem == Problem.UNPARSED;
        listings.problem(path == null ? FilePath.ROOT : path, problem, message);
    }

    /** All is told: tells it on, folder by folder. */
    void tellByFolder() throws IOException, InterruptedException, SQLException {
        loose.send();
        try (PreparedStatement sorted = connection.prepareStatement("""
                select distinct on (directory, name) * from loose order by directory, name, ordinal desc
                """)) {
            sorted.setFetchSize(FETCH);
            try (ResultSet row = sorted.executeQuery()) {
                tell(row);
            }
        }
    }

    private void tell(ResultSet row) throws SQLException, IOException, InterruptedException {
        byte @Nullable [] directory = null;
        Listings.Listing listing = null;
        boolean outside = false;
        while (row.next()) {
            byte[] next = row.getBytes("directory");
            if (listing == null || !Arrays.equals(directory, next)) {
                end(listing);
                FilePath folder = FilePath.of(next);
                listing = listings.folder(folder);
                directory = next;
                outside = isBelowALink(folder);
                if (outside) {
                    listings.problem(
                            folder, Problem.OUTSIDE, "a link is on the way to it: what it holds is not the source's");
                }
            }
            if (!outside) {
                listing.entry(row.getBytes("name"), facts(row));
            }
        }
        end(listing);
        if (lacking) {
            listings.problem(
                    FilePath.ROOT,
                    Problem.UNREADABLE,
                    "not all lines of the list are valid: no file is treated as deleted");
        }
    }

    /** A walk never follows a link; a list may name what lies behind one. */
    private boolean isBelowALink(FilePath folder) {
        for (FilePath above = folder; !above.isRoot(); above = above.parent()) {
            if (Files.isSymbolicLink(above.under(source))) {
                return true;
            }
        }
        return false;
    }

    /** What a line that was not understood names may lie in any folder: none is known to have been told to its end. */
    private void end(Listings.@Nullable Listing listing) throws IOException, InterruptedException {
        if (listing != null && !lacking) {
            listing.end();
        }
    }

    private static Facts facts(ResultSet row) throws SQLException {
        return new Facts(
                EntryKind.of(row.getString("kind").charAt(0)),
                row.getLong("size_bytes"),
                row.getLong("modified_ns"),
                Facts.UNKNOWN_NANOS,
                row.getShort("mode"),
                row.getObject("hard_link", Long.class),
                row.getBytes("link_target"));
    }
}
