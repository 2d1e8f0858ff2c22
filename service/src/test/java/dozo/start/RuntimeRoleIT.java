package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariDataSource;
import dozo.Application;
import dozo.Ended;
import dozo.RunningService;
import dozo.alert.Alerts;
import dozo.db.ChildJava;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.ledger.Coverage;
import dozo.ledger.Guards;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.registry.Erasures;
import dozo.registry.Erasures.State;
import dozo.remote.SiteAddress;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The service works as a role that the database does not let change the ledger, its guards or any table's structure. */
@StartsServices(7)
class RuntimeRoleIT {

    private static final String PASSWORD = "hush";

    /** Refused because of the role, and not because of a trigger: without the role nothing would refuse the most of them. */
    private static final String[] REFUSED = {
        "update ledger set actor = 'x'",
        "delete from ledger",
        "truncate ledger",
        "alter table ledger disable trigger all",
        "drop trigger ledger_is_append_only on ledger",
        "drop table ledger",
        "alter table ledger owner to current_user",
        "create or replace function refuse_change() returns trigger language plpgsql as 'begin return new; end'",
        "create rule hidden as on update to ledger do instead nothing",
        "set session_replication_role = replica",
        "copy ledger to program 'cat > /dev/null'",
        "copy ledger to '/tmp/ledger'",
        "copy project from program 'echo'",
        "create table mine (n int)",
        "create function mine() returns int language sql return 1",
        "create schema mine",
        "create role mine",
        "truncate receipt",
        "alter table receipt disable trigger all",
        "insert into flyway_schema_history select * from flyway_schema_history",
        "insert into audit_reader (reader) values (current_user)",
        "call audit.admit(current_user, null)",
        "call admit_service(current_user)",
        "select pg_read_file('PG_VERSION')",
    };

    @TempDir
    Path folder;

    @Test
    void theServiceWorksAsARoleThatCannotChangeTheLedger() throws Exception {
        HikariDataSource database = TestDatabase.empty();
        Map<String, String> settings = roles(database);
        Path source = Files.createDirectory(folder.resolve("source"));
        Files.writeString(source.resolve("image"), "content");
        try (LoopbackSite site = LoopbackSite.start(folder.resolve("keys"), folder.resolve("dr"), 0)) {
            try (RunningService service = RunningService.start(folder.resolve("work"), database, settings)) {
                service.saveSite("dr", site.address());
                service.createExperiment("P1", "E1", source);
                Path other = Files.createDirectory(folder.resolve("other"));
                Files.writeString(other.resolve("image"), "other");
                service.createExperiment("P1", "E2", other);

                night(service);
                long asked = service.bean(Erasures.class)
                        .request(Sight.EVERYTHING, "P1", "E2", "a subject's wish", "lab")
                        .id();
                service.bean(Erasures.class).approve(asked, "admin");
                night(service);

                service.bean(Alerts.class).evaluate(List.of());
                assertThat(service.bean(Coverage.class).all(1).safe()).isTrue();
                assertThat(service.bean(Erasures.class)
                                .find(Sight.EVERYTHING, asked)
                                .orElseThrow()
                                .state())
                        .isEqualTo(State.ERASED);
                assertThat(service.bean(Guards.class).breaches()).isEmpty();
                assertThat(service.jdbc()
                                .sql("select current_user")
                                .query(String.class)
                                .single())
                        .isEqualTo(settings.get("dozo.db.user"));
                assertRefused(settings);
            }
            rebuild(site.address());
        }
    }

    private static void night(RunningService service) {
        Run ended = service.backUp();
        assertThat(ended.state()).as(ended.message()).isEqualTo(RunState.COMPLETE);
    }

    private static void assertRefused(Map<String, String> settings) throws SQLException {
        try (Connection connection = DriverManager.getConnection(
                        settings.get("dozo.db.url"), settings.get("dozo.db.user"), PASSWORD);
                Statement statement = connection.createStatement()) {
            // PostgreSQL only warns that this grants nothing.
            statement.execute("grant all on ledger to current_user");
            for (String sql : REFUSED) {
                assertThat(catchThrowable(() -> statement.execute(sql)))
                        .as(sql)
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getSQLState()).isEqualTo("42501"));
            }
        }
    }

    /** A rebuilt catalogue also has its statistics, which only the owner may collect. */
    private void rebuild(SiteAddress site) throws Exception {
        HikariDataSource database = TestDatabase.empty();
        Map<String, String> environment = new HashMap<>();
        roles(database)
                .forEach((name, value) ->
                        environment.put(name.replaceAll("[.-]", "_").toUpperCase(Locale.ROOT), value));
        environment.remove("DOZO_ERASURE_WAITING");
        environment.put("DOZO_WORK", folder.resolve("new").toString());
        ProcessBuilder command = ChildJava.of(Application.class)
                .arguments("rebuild-catalogue", "--port", String.valueOf(site.port()), "--host-key", site.hostKey())
                .arguments("--identity", site.identity().toString())
                .arguments("--recovery-key", folder.resolve("work/recovery-key").toString(), "dr")
                .arguments("%s@%s:%s".formatted(site.user(), site.host(), site.root()))
                .fromCache()
                .process();
        command.environment().putAll(environment);
        Ended.of(command).ends(0);
        assertThat(JdbcClient.create(database)
                        .sql("select last_analyze is not null from pg_stat_user_tables where relname = 'manifest'")
                        .query(Boolean.class)
                        .single())
                .isTrue();
    }

    @Test
    void aDatabaseWithOneRoleIsUpgradedToTwo() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        Map<String, String> settings = roles(database);
        settings.putAll(
                Map.of("dozo.db.owner-user", database.getUsername(), "dozo.db.owner-password", database.getPassword()));
        Map<String, String> withoutOwner = new HashMap<>(settings);
        withoutOwner.keySet().removeIf(name -> name.contains(".owner"));

        StartFailure refused = StartFailure.of(
                        catchThrowable(() -> RunningService.start(folder.resolve("work"), database, withoutOwner)))
                .orElseThrow();
        assertThat(refused.message())
                .contains("DOZO_DB_OWNER_USER", "permission denied")
                .doesNotContain("\n");
        assertThat(refused.exitCode()).isEqualTo(StartFailure.CONFIGURATION);

        for (Map<String, String> later : List.of(Map.<String, String>of(), settings, withoutOwner)) {
            try (RunningService service = RunningService.start(folder.resolve("work"), database, later)) {
                service.get("/api/v1/projects").expect(200);
            }
        }
        assertRefused(settings);
    }

    @Test
    void anEmbeddedDatabaseHasBothRoles() throws Exception {
        Path work = folder.resolve("work");
        TestDatabase.unpacked(work.resolve("postgres"));
        Map<String, String> embedded = Map.of("dozo.db.url", "", "dozo.db.user", "", "dozo.db.password", "");
        try (RunningService service = RunningService.start(work, TestDatabase.empty(), embedded)) {
            JdbcClient jdbc = service.jdbc();
            assertThat(jdbc.sql("select current_user || ' ' || usesuper from pg_user where usename = current_user")
                            .query(String.class)
                            .single())
                    .isEqualTo("dozo false");
            assertThat(jdbc.sql("select tableowner from pg_tables where tablename = 'ledger'")
                            .query(String.class)
                            .single())
                    .isEqualTo("postgres");
            service.post("/api/v1/projects", "{\"code\": \"P1\"}").expect(201);
        }
    }

    /** Creates the roles and returns the settings. NB: roles belong to the server, so each database has its own. */
    private static Map<String, String> roles(HikariDataSource database) {
        JdbcClient jdbc = JdbcClient.create(database);
        String name = jdbc.sql("select current_database()").query(String.class).single();
        jdbc.sql("""
                create role %1$s_owner login password '%2$s';
                create role %1$s_service login password '%2$s';
                alter database %1$s owner to %1$s_owner;
                """.formatted(name, PASSWORD)).update();
        return new HashMap<>(Map.of(
                "dozo.db.url",
                database.getJdbcUrl(),
                "dozo.db.user",
                name + "_service",
                "dozo.db.password",
                PASSWORD,
                "dozo.db.owner-user",
                name + "_owner",
                "dozo.db.owner-password",
                PASSWORD,
                "dozo.erasure.waiting",
                "0s"));
    }
}
