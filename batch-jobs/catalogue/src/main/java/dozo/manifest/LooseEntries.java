package dozo.manifest;

import static java.util.Objects.requireNonNull;

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
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Sorts entries that are reported in any order by folder, in a temporary table, and reports them folder by folder. If a
 * path is reported twice, the last report counts. Holds a connection while it sorts and reports, but no transaction.
 * Not thread-safe.
 */
final class LooseEntries implements Listed, AutoCloseable {

    private static final int FETCH = 1_000;

    private final JdbcTemplate template;
    private final Path source;
    private final Listings listings;
    private final LongAdder told;
    private final CopyTable loose = new CopyTable(
            "copy loose (ordinal, directory, %s) from stdin with (format binary)".formatted(FolderRows.COLUMNS));
    private int ordinal;
    private boolean lacking;

    LooseEntries(JdbcTemplate template, Path source, Listings listings, LongAdder told) {
        this.template = template;
        this.source = source;
        this.listings = listings;
        this.told = told;
    }

    @Override
    public void close() {
        loose.close();
    }

    @Override
    public void entry(FilePath path, Facts facts) throws IOException {
        told.increment();
        CopyBytes row = loose.row(2 + FolderRows.COLUMN_COUNT);
        row.field(++ordinal);
        row.field(path.parent().bytes());
        FolderRows.put(row, path.name(), facts);
    }

    @Override
    public void problem(long line, @Nullable FilePath path, Problem problem, String message)
            throws IOException, InterruptedException {
        lacking |= problem == Problem.UNPARSED;
        listings.problem(path == null ? FilePath.ROOT : path, problem, message);
    }

    /** Reports all entries, folder by folder. */
    void tellByFolder() throws IOException, InterruptedException {
        try (Connection connection = requireNonNull(template.getDataSource()).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("""
                    create temporary table loose (
                        ordinal integer not null,
                        directory bytea not null,
                        %s
                    )
                    """.formatted(FolderRows.DEFINITIONS));
            try {
                loose.load(connection);
                // The server stores the sorted rows, so that no transaction is open while the source is accessed.
                statement.execute("""
                        declare sorted no scroll cursor with hold for
                        select distinct on (directory, name) * from loose order by directory, name, ordinal desc
                        """);
                tell(statement);
            } finally {
                statement.execute("close all");
                statement.execute("drop table loose");
            }
        } catch (SQLException e) {
            throw requireNonNull(template.getExceptionTranslator().translate("a list by folder", null, e));
        }
    }

    private void tell(Statement statement) throws SQLException, IOException, InterruptedException {
        FolderTeller teller = new FolderTeller();
        int rows;
        do {
            rows = 0;
            try (ResultSet row = statement.executeQuery("fetch %d from sorted".formatted(FETCH))) {
                while (row.next()) {
                    teller.tell(row);
                    rows++;
                }
            }
        } while (rows == FETCH);
        end(teller.listing);
        if (lacking) {
            listings.problem(
                    FilePath.ROOT,
                    Problem.UNREADABLE,
                    "not all lines of the list are valid: no file is treated as deleted");
        }
    }

    /** Reports rows that are sorted by folder as folders. */
    private final class FolderTeller {

        private byte @Nullable [] directory;
        private Listings.@Nullable Listing listing;
        private boolean outside;

        void tell(ResultSet row) throws SQLException, IOException, InterruptedException {
            byte[] next = row.getBytes("directory");
            Listings.Listing here = listing;
            if (here == null || !Arrays.equals(directory, next)) {
                end(here);
                here = begin(FilePath.of(next));
                listing = here;
                directory = next;
            }
            if (!outside) {
                here.entry(row.getBytes("name"), facts(row));
            }
        }

        private Listings.Listing begin(FilePath folder) throws IOException, InterruptedException {
            Listings.Listing begun = listings.folder(folder);
            outside = isBelowALink(folder);
            if (outside) {
                listings.problem(
                        folder,
                        Problem.OUTSIDE,
                        "a symbolic link is on its path, so its content is outside the source");
            }
            return begun;
        }
    }

    /**
     * Returns whether a folder is reached through a link. A walk never follows a link, but a list may name paths behind
     * one.
     */
    private boolean isBelowALink(FilePath folder) {
        for (FilePath above = folder; !above.isRoot(); above = above.parent()) {
            if (Files.isSymbolicLink(above.under(source))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Ends a folder, unless the list has invalid lines: they could name entries of any folder, so no folder is known to
     * be complete.
     */
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
