package dozo.start;

import static java.util.Objects.requireNonNull;

import dozo.db.Program;
import dozo.db.TableDump;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a service of an early version had after 30 nights with 40 experiments: {@code make.py} beside the archive made it.
 *
 * @param schema the version of its database's schema
 */
record YearOne(String schema, TableDump.Contents tables) {

    /** Where the experiments' sources were: not on this machine. */
    static final String STORAGE = "/tmp/dozo-year-one/storage";

    static final int EXPERIMENTS = 40;
    static final int NIGHTS = 30;

    private static final Path RESOURCES = Path.of("src/test/resources/dozo/tenyears");
    private static final String CONTENTS = "contents.json";
    private static final JsonMapper JSON = new JsonMapper();

    /**
     * Writes the rows of a running service's database.
     *
     * @param words the database's URL, user and password, and a folder that exists
     */
    public static void main(String[] words) throws IOException, SQLException {
        Path folder = Path.of(words[3]);
        try (Connection connection = DriverManager.getConnection(words[0], words[1], words[2])) {
            String schema;
            try (Statement statement = connection.createStatement();
                    ResultSet version = statement.executeQuery(
                            "select version from flyway_schema_history order by installed_rank desc limit 1")) {
                version.next();
                schema = version.getString(1);
            }
            YearOne written = new YearOne(schema, TableDump.write(connection, folder));
            Files.write(folder.resolve(CONTENTS), JSON.writeValueAsBytes(written));
        }
    }

    /** Unpacks the archive: folders {@code database}, {@code work}, {@code site}, {@code storage}, {@code paper}. */
    static void unpack(Path folder) throws IOException, InterruptedException {
        Program.succeed(
                "tar",
                "--no-same-owner",
                "-xpzf",
                RESOURCES.resolve("year-one.tar.gz").toString(),
                "-C",
                folder.toString());
    }

    /** Makes an empty database that of the early version. */
    static void load(Path unpacked, DataSource database) throws IOException, SQLException {
        Path folder = unpacked.resolve("database");
        YearOne written = JSON.readValue(Files.readAllBytes(folder.resolve(CONTENTS)), YearOne.class);
        Flyway.configure()
                .dataSource(database)
                .target(requireNonNull(written.schema))
                .load()
                .migrate();
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            TableDump.load(connection, folder, written.tables);
            connection.commit();
        }
    }

    /** Asks {@code contents.py}, which knows what every file was without Dozo. */
    static void witness(String question, Path table, Path tree, Object... more)
            throws IOException, InterruptedException {
        ProcessBuilder python = new ProcessBuilder(
                "python3",
                "-B",
                RESOURCES.resolve("contents.py").toString(),
                question,
                table.toString(),
                tree.toString());
        for (Object word : more) {
            python.command().add(word.toString());
        }
        Program.run(python).succeeded();
    }
}
