package dozo.manifest;

import dozo.file.FilePath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

/** Finds the folders that existed at the last look and were not reported at this one. */
final class GoneFolders {

    private static final int FETCH = 1_000;

    private GoneFolders() {}

    /**
     * Puts them into {@code gone_folder}, except those below unreadable paths: unknown is not gone. Must run in a
     * transaction.
     */
    static void find(JdbcTemplate template, int experimentId, FolderLoad load) {
        if (load.lacksFolders()) {
            template.execute((ConnectionCallback<@Nullable Void>) connection -> {
                collect(connection, experimentId, load);
                return null;
            });
        }
    }

    private static void collect(Connection connection, int experimentId, FolderLoad load) throws SQLException {
        try (CopyTable gone = new CopyTable("copy gone_folder (directory_no) from stdin with (format binary)");
                PreparedStatement folders = connection.prepareStatement(
                        "select directory_no, path from directory where experiment_id = ? and entries is not null")) {
            folders.setInt(1, experimentId);
            folders.setFetchSize(FETCH);
            try (ResultSet folder = folders.executeQuery()) {
                while (folder.next()) {
                    int number = folder.getInt(1);
                    if (!load.saw(number) && !below(FilePath.of(folder.getBytes(2)), load.unreadable())) {
                        gone.row(1).field(number);
                    }
                }
            }
            gone.load(connection);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean below(FilePath folder, Set<FilePath> unreadable) {
        if (unreadable.isEmpty()) {
            return false;
        }
        for (FilePath path = folder; !path.isRoot(); path = path.parent()) {
            if (unreadable.contains(path)) {
                return true;
            }
        }
        return unreadable.contains(FilePath.ROOT);
    }
}
