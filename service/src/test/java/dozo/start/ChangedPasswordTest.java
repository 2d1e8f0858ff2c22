package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The password of the database is changed while the service runs: what is connected stays, and new connections read the file. */
class ChangedPasswordTest {

    @TempDir
    Path folder;

    @Test
    void newConnectionsUseTheNewPasswordAndOpenOnesStay() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient owner = JdbcClient.create(database);
        Path file = Files.writeString(folder.resolve("password"), "first\n");
        owner.sql("create role changing login password 'first'").update();
        try {
            DatabaseLogin login =
                    new DatabaseLogin(database.getJdbcUrl(), "changing", SecretFile.followed(file.toString()));
            try (Connection open = login.getConnection()) {
                owner.sql("alter role changing password 'second'").update();
                assertThatThrownBy(login::getConnection)
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getSQLState()).isEqualTo("28P01"));

                Files.writeString(file, "second\n");
                login.getConnection().close();
                assertThat(user(open)).isEqualTo("changing");
            }
        } finally {
            owner.sql("drop role changing").update();
        }
    }

    @Test
    void whileTheFileIsWrongTheLastSecretCounts() throws Exception {
        Path file = folder.resolve("secret");
        assertThatThrownBy(() -> SecretFile.followed(file.toString())).isInstanceOf(IllegalArgumentException.class);
        Files.writeString(file, "first");
        Supplier<String> secret = SecretFile.followed(file.toString());

        Files.writeString(file, "");
        assertThat(secret.get()).isEqualTo("first");
        Files.writeString(file, "second");
        assertThat(secret.get()).isEqualTo("second");
        Files.delete(file);
        assertThat(secret.get()).isEqualTo("second");
    }

    private static String user(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select current_user")) {
            row.next();
            return row.getString(1);
        }
    }
}
