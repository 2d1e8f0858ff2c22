package dozo.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedDatabaseTest {

    @TempDir
    Path folder;

    @Test
    void keepsItsDataAndItsPasswordAcrossRestarts() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            execute(database, "create table kept (n int)");
        }
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            execute(database, "insert into kept values (1)");
        }
    }

    @Test
    void refusesAFolderThatIsInUse() throws Exception {
        try (EmbeddedDatabase inUse = EmbeddedDatabase.start(folder)) {
            assertThat(inUse.url()).isNotEmpty();
            assertThatThrownBy(() -> EmbeddedDatabase.start(folder))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("another Dozo is using");
        }
    }

    @Test
    void letsNobodyInWithoutThePassword() throws Exception {
        try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
            assertThatThrownBy(() -> DriverManager.getConnection(database.url(), database.user(), "guess"))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("password");
        }
    }

    private static void execute(EmbeddedDatabase database, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(database.url(), database.user(), database.password());
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
