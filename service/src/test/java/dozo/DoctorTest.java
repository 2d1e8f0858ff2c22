package dozo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import com.sun.net.httpserver.HttpServer;
import com.unboundid.ldap.listener.InMemoryDirectoryServer;
import com.unboundid.ldap.listener.InMemoryDirectoryServerConfig;
import com.unboundid.ldap.listener.InMemoryListenerConfig;
import com.unboundid.util.ssl.KeyStoreKeyManager;
import com.unboundid.util.ssl.SSLUtil;
import com.unboundid.util.ssl.TrustAllTrustManager;
import com.zaxxer.hikari.HikariDataSource;
import dozo.broker.RabbitBroker;
import dozo.db.ActiveService;
import dozo.db.TestDatabase;
import dozo.doctor.Doctor;
import dozo.doctor.Installation;
import dozo.doctor.Result;
import dozo.doctor.Result.State;
import dozo.file.Build;
import dozo.file.Digest;
import dozo.file.Zoned;
import dozo.ledger.Anchor;
import dozo.ledger.Ledger;
import dozo.loopback.LoopbackSite;
import dozo.loopback.Ports;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
import dozo.remote.HungMount;
import dozo.remote.Identity;
import dozo.remote.SiteAddress;
import dozo.remote.Tmpfs;
import dozo.security.MadeKeys;
import dozo.source.dicomweb.OrthancServer;
import dozo.start.Given;
import dozo.start.Pooler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Everything that a first installation gets wrong is found, with its cure. DoctorIT has a good one, in which none of this is found. */
class DoctorTest {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    private static final String ANY_KEY =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1yIyPKN3TRWr0XyRVcgpIJ4yZkXLQyAeFgBY1Ld4sB";

    @TempDir
    Path folder;

    private Path work;

    @BeforeEach
    void create() throws Exception {
        work = Files.createDirectory(
                folder.resolve("work"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    @Test
    void beforeTheFirstStartAnInstallationIsWell() {
        List<Result> results = examine(Map.of());

        assertOk(results, "work folder", "");
        assertThat(of(results, "settings").message()).isEqualTo("2 set, all valid");
        assertOk(results, "HTTP", "");
        assertThat(of(results, "database").state()).isEqualTo(State.HINT);
        assertThat(of(results, "database").message()).contains("the first start creates an embedded database");
        assertThat(work).as("nothing was created").isEmptyDirectory();
        assertThat(of(examine("dozo.work", folder.resolve("not/yet").toString()), "work folder")
                        .message())
                .contains("the first start creates it");
        assertThat(folder.resolve("not")).doesNotExist();
    }

    @Test
    void anEmbeddedDatabaseOfAnotherMajorVersionIsFoundWhileNothingRuns() throws Exception {
        Path data = Files.createDirectories(work.resolve("postgres/data"));
        assertWarning(examine(Map.of()), "database", "does not run", "Start the service");
        Files.writeString(data.resolve("PG_VERSION"), "17\n");
        assertBroken(examine(Map.of()), "database", "is of PostgreSQL 17", "Run dozo upgrade-database.");
        Files.writeString(data.resolve("PG_VERSION"), "99\n");
        assertBroken(examine(Map.of()), "database", "is of PostgreSQL 99", "upgrade-database --back");
    }

    @Test
    void allWrongSettingsAreTold() {
        List<Result> results = examine(
                Map.of("dozo.schedul.cron", "-", "dozo.transfer.lanes", "65", "dozo.schedule.zone", "Mars/Base"));

        assertThat(results)
                .filteredOn(each -> each.about().equals("settings"))
                .allMatch(each -> each.state() == State.BROKEN)
                .extracting(Result::message)
                .satisfiesExactlyInAnyOrder(
                        unknown -> assertThat(unknown)
                                .isEqualTo("unknown setting dozo.schedul.cron; did you mean dozo.schedule.cron?"),
                        lanes -> assertThat(lanes).contains("dozo.transfer.lanes is \"65\"", "0 to 64"),
                        zone -> assertThat(zone).contains("Mars/Base"));
        assertThat(of(examine("dozo.work", ""), "database").message()).contains("its settings are wrong");
    }

    @Test
    void aSecretThatOthersCanReadIsFound() throws Exception {
        Path open = Files.createTempFile(Path.of("/tmp"), "dozo-doctor", "");
        try {
            Files.writeString(open, "hush-4711\n");
            Map<String, String> settings = Map.of("dozo.admin.password-file", open.toString());
            assertThat(about(examine(settings), "secrets")).isEmpty();

            Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r--r--"));

            List<Result> results = examine(settings);
            assertThat(of(results, "secrets").message()).isEqualTo("every user of this machine can read " + open);
            assertThat(of(results, "secrets").cure()).contains("chmod 600");
            assertThat(results.toString()).doesNotContain("hush-4711");
        } finally {
            Files.delete(open);
        }
    }

    @Test
    void aWorkFolderOfAnotherUserOrOpenToOthersIsFound() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can give a folder away");
        Files.setOwner(
                work, work.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody"));
        Files.setPosixFilePermissions(work, PosixFilePermissions.fromString("rwxr-xr-x"));

        List<Result> results = examine(Map.of());

        assertWarning(results, "work folder", "belongs to nobody, but this is root", "sudo -u nobody");
        assertWarning(results, "work folder", "other users can read or write", "chmod 700");
    }

    @Test
    void aFullWorkFolderIsFound() throws Exception {
        try (Tmpfs _ = new Tmpfs(work, "size=64m,mode=700")) {
            assertBroken(examine(Map.of()), "work folder", "67 MB free", "Free some space");
        }
        try (Tmpfs _ = new Tmpfs(work, "size=1g,mode=700")) {
            assertWarning(examine(Map.of()), "work folder", "may soon fill", "DOZO_DB_URL");
        }
        try (Tmpfs _ = new Tmpfs(work, "size=64m,nr_inodes=1,mode=700")) {
            assertBroken(examine(Map.of()), "work folder", "cannot write in " + work, "free some space");
        }
    }

    @Test
    void aPlainLinkToAnotherMachineIsFound() {
        String database = "jdbc:postgresql://db.invalid/dozo?";
        for (String plain : List.of("", "sslmode=require", "sslmode=verify-ca")) {
            assertWarning(
                    examine("dozo.db.url", database + plain),
                    "database",
                    "between this one and db.invalid",
                    "sslmode=verify-full");
        }
        for (String good :
                List.of(database + "sslmode=verify-full", "jdbc:postgresql://127.0.0.1:1,localhost:1/dozo")) {
            assertThat(about(examine("dozo.db.url", good), "database"))
                    .extracting(Result::state)
                    .containsExactly(State.BROKEN);
        }
        assertWarning(examine("dozo.broker.url", "amqp://broker.invalid"), "broker", "not encrypted", "amqps");
        assertThat(about(examine("dozo.broker.url", "amqps://broker.invalid"), "broker"))
                .extracting(Result::state)
                .containsExactly(State.BROKEN);
    }

    @Test
    void aBrokerThatAnswersIsWellAndOtherProgramsAreNot() throws Exception {
        assertThat(about(examine(Map.of()), "broker")).as("none is configured").isEmpty();
        HttpServer other = answering(() -> 404);
        try {
            RabbitBroker broker = RabbitBroker.running();
            assertOk(examine("dozo.broker.url", broker.url()), "broker", "");
            broker.kill();
            assertBroken(
                    examine("dozo.broker.url", broker.url()),
                    "broker",
                    "workers begin up to 15 s late",
                    "Start RabbitMQ");
            for (String scheme : List.of("amqp", "amqps")) {
                String url =
                        "%s://127.0.0.1:%d".formatted(scheme, other.getAddress().getPort());
                assertBroken(examine("dozo.broker.url", url), "broker", "cannot be used", "DOZO_BROKER_URL");
            }
        } finally {
            other.stop(0);
        }
    }

    @Test
    void anAddressThatIsNotOfThisMachineIsFound() {
        for (String address : List.of("203.0.113.1", "no-such-host.invalid")) {
            assertBroken(examine("dozo.http.address", address), "HTTP", address, "DOZO_HTTP_ADDRESS");
        }
    }

    @Test
    void aPortThatAnotherProgramHoldsIsFound() throws Exception {
        HttpServer other = answering(() -> 404);
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            silent.setSoTimeout(60_000);
            Thread closer = Thread.ofVirtual().start(() -> accept(silent));
            for (int port : List.of(other.getAddress().getPort(), silent.getLocalPort())) {
                assertBroken(
                        examine("dozo.http.port", String.valueOf(port)),
                        "HTTP",
                        "cannot listen at port %d".formatted(port),
                        "Stop the other program");
            }
            closer.join();
        } finally {
            other.stop(0);
        }
    }

    /** Is no web server: ends each connection at once. */
    private static void accept(ServerSocket socket) {
        try {
            socket.accept().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void passwordsWithoutTlsAndAProxyWithoutNamesAreFound() {
        assertWarning(examine("dozo.http.address", "0.0.0.0"), "HTTP", "without TLS", "DOZO_HTTP_TLS_PROXY");
        assertWarning(examine("dozo.http.tls-proxy", "127.0.0.1"), "HTTP", "get 421", "DOZO_HTTP_HOSTS");
        assertThat(about(
                        examine(Map.of("dozo.http.tls-proxy", "127.0.0.1", "dozo.http.hosts", "dozo.example.org")),
                        "HTTP"))
                .extracting(Result::state)
                .containsExactly(State.OK);
    }

    @Test
    void aDatabaseThatCannotBeUsedIsFoundAndNothingElseFails() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        Map<String, String> wrongPassword = new HashMap<>(at(database));
        wrongPassword.put("dozo.db.password", "hush-4712");
        Map<String, String> noDatabase = new HashMap<>(at(database));
        noDatabase.put("dozo.db.url", String.valueOf(database.getJdbcUrl()).replaceFirst("/[^/]*$", "/nosuch"));
        Map<String, String> noServer = Map.of("dozo.db.url", "jdbc:postgresql://127.0.0.1:1/x?password=hush-4712");

        assertBroken(examine(wrongPassword), "database", "password", "DOZO_DB_PASSWORD_FILE");
        assertBroken(examine(noDatabase), "database", "nosuch", "createdb");
        assertBroken(examine(noServer), "database", "not checked", "Start the server");
        for (Map<String, String> settings : List.of(wrongPassword, noDatabase, noServer)) {
            assertThat(examine(settings))
                    .filteredOn(each -> each.state() == State.BROKEN)
                    .extracting(Result::about)
                    .containsExactly("database");
            assertThat(examine(settings).toString()).doesNotContain("hush-4712");
        }
        Files.writeString(work.resolve("secret"), "hush-4712\nhush-4712\n");
        assertWarning(
                examine(Map.of(
                        "dozo.db.url", String.valueOf(database.getJdbcUrl()),
                        "dozo.db.password-file", work.resolve("secret").toString())),
                "database",
                "the password file",
                "Correct the settings");
    }

    @Test
    void anEmbeddedDatabaseWithoutItsServiceIsFound() throws Exception {
        Files.createDirectories(work.resolve("postgres/data"));

        assertWarning(examine(Map.of()), "database", "does not run", "Start the service");
    }

    @Test
    void missingRightsAreFound() {
        HikariDataSource empty = TestDatabase.empty();
        JdbcClient jdbc = JdbcClient.create(empty);
        role(jdbc, "doctor_guest");
        Map<String, String> guest = as("doctor_guest", empty);
        assertBroken(
                examine(guest), "database", "may not create tables in schema public", "grant create on schema public");

        jdbc.sql(
                        "do $$ begin execute format('revoke temporary on database %I from public', current_database()); end $$")
                .update();
        assertBroken(examine(guest), "database", "may not create temporary tables", "grant temporary");

        jdbc.sql("alter role doctor_guest connection limit 3").update();
        assertWarning(
                examine(guest), "database", "allows Dozo 3 connections; the service may use 33", "max_connections");

        jdbc.sql("alter role doctor_guest set search_path = nowhere").update();
        assertBroken(examine(guest), "database", "no schema of the user's search_path exists", "create schema");
        assertThat(of(examine(as(null, empty)), "schema").message()).contains("the first start creates it");
        assertHint(examine(guest), "database", "pg_trgm", "create extension pg_trgm");
        jdbc.sql("drop owned by doctor_guest").update();
        jdbc.sql("drop role doctor_guest").update();
    }

    @Test
    void tablesOfOthersAreFound() {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        role(jdbc, "doctor_other");

        List<Result> results = examine(as("doctor_other", database));

        assertBroken(results, "database", "belong to other users", "reassign owned");
        assertBroken(results, "schema", "the user cannot read it", "DOZO_DB_USER");
        jdbc.sql("drop role doctor_other").update();
    }

    @Test
    void aUserWhoCanChangeTheLedgerIsFound() {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        role(jdbc, "doctor_service");
        role(jdbc, "doctor_owner");
        Map<String, String> service = as("doctor_service", database);
        Map<String, String> owner = Map.of(
                "dozo.db.owner-user", String.valueOf(database.getUsername()),
                "dozo.db.owner-password", String.valueOf(database.getPassword()));
        try {
            assertWarning(examine(at(database)), "database", "is a superuser", "DOZO_DB_OWNER_USER");
            assertBroken(examine(service, owner), "schema", "cannot read it", "start the service");

            jdbc.sql("call admit_service('doctor_service')").update();
            assertThat(about(examine(service, owner), "database"))
                    .extracting(Result::message)
                    .noneMatch(message -> message.matches(".*(the user|the owner|owns|belong|trgm).*"));
            assertHint(examine(service), "database", "cannot upgrade", "workers and commands");
            assertBroken(
                    examine(service, Map.of("dozo.db.owner-user", "doctor_owner", "dozo.db.owner-password", "wrong")),
                    "database",
                    "cannot log in as the owner",
                    "DOZO_DB_OWNER_PASSWORD_FILE");
            assertBroken(
                    examine(service, Map.of("dozo.db.owner-user", "doctor_owner", "dozo.db.owner-password", "hush")),
                    "database",
                    "belong to other users",
                    "reassign owned by OTHER to OWNER");

            jdbc.sql("grant create on schema public to doctor_service").update();
            assertWarning(examine(service, owner), "database", "may create tables", "revoke create");

            jdbc.sql("alter table ledger owner to doctor_service").update();
            assertWarning(examine(service, owner), "database", "owns the tables", "owns nothing");
        } finally {
            jdbc.sql("drop owned by doctor_service cascade").update();
            jdbc.sql("drop role doctor_service, doctor_owner").update();
        }
    }

    @Test
    void settingsOfTheServerThatLoseDataAreFound() {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        set(jdbc, "synchronous_commit", "off");
        set(jdbc, "random_page_cost", "4");
        set(jdbc, "default_transaction_read_only", "on");

        List<Result> results = examine(at(database));

        assertWarning(results, "database", "synchronous_commit is off", "synchronous_commit = on");
        assertHint(results, "database", "random_page_cost is 4.0", "random_page_cost = 1.1");
        assertBroken(results, "database", "read-only", "targetServerType=primary");
        // The embedded server of the tests runs without both.
        assertThat(results.toString().contains("fsync is off")).isEqualTo(isOff(database, "fsync"));
        assertThat(results.toString().contains("full_page_writes is off"))
                .isEqualTo(isOff(database, "full_page_writes"));

        set(jdbc, "default_transaction_read_only", "off");
        set(jdbc, "synchronous_commit", "on");
        set(jdbc, "random_page_cost", "1.1");
        assertThat(examine(at(database)).toString())
                .doesNotContain("synchronous_commit", "random_page_cost", "read-only");
    }

    @Test
    void anotherEncodingIsFound() {
        HikariDataSource database = TestDatabase.empty();
        JdbcClient jdbc = JdbcClient.create(database);
        jdbc.sql("create database doctor_latin encoding 'LATIN1' locale 'C' template template0")
                .update();
        Map<String, String> settings = new HashMap<>(at(database));
        settings.put("dozo.db.url", String.valueOf(database.getJdbcUrl()).replaceFirst("/[^/]*$", "/doctor_latin"));

        assertBroken(examine(settings), "database", "LATIN1", "--encoding UTF8");
        jdbc.sql("drop database doctor_latin").update();
    }

    @Test
    void aSchemaOfAnotherVersionIsFound() {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        assertOk(examine(at(database)), "schema", "");
        assertHint(examine(at(database)), "sites", "no site is registered yet", "dozo site add");

        jdbc.sql(
                        "delete from flyway_schema_history where installed_rank = (select max(installed_rank) from flyway_schema_history)")
                .update();
        assertWarning(examine(at(database)), "schema", "older", "upgrades it");
        assertThat(about(examine(at(database)), "sites")).isEmpty();

        jdbc.sql(
                        "update flyway_schema_history set version = '209901010000' where installed_rank = (select max(installed_rank) from flyway_schema_history)")
                .update();
        assertBroken(examine(at(database)), "schema", "another version of Dozo", "used this database last");
    }

    @Test
    void aPoolerThatSharesSessionsIsFound() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        for (String mode : List.of("transaction", "session")) {
            try (Pooler pooler = new Pooler(folder.resolve(mode), database, mode)) {
                List<Result> results =
                        examine(Map.of("dozo.db.url", pooler.url(), "dozo.db.user", "any", "dozo.db.password", "any"));

                assertThat(about(results, "database").toString().contains("one session to several connections"))
                        .isEqualTo(mode.equals("transaction"));
                assertOk(results, "schema", "");
                if (mode.equals("transaction")) {
                    assertBroken(results, "database", "one session", "pool_mode = session");
                }
            }
        }
    }

    @Test
    void aDirectoryThatCannotBeUsedIsFound() throws Exception {
        assertThat(about(examine(Map.of()), "directory"))
                .as("none is configured")
                .isEmpty();
        InMemoryDirectoryServerConfig config = new InMemoryDirectoryServerConfig("dc=example,dc=org");
        config.addAdditionalBindCredentials("cn=dozo", "right");
        Path store = MadeKeys.store(folder.resolve("ldap.p12"), "EC", "dns:localhost", "-1H");
        Path certificate = Files.writeString(folder.resolve("ldap.pem"), MadeKeys.certificate(store));
        SSLUtil keys = new SSLUtil(
                new KeyStoreKeyManager(store.toString(), MadeKeys.PASSWORD.toCharArray(), "PKCS12", "a"),
                new TrustAllTrustManager());
        config.setListenerConfigs(
                InMemoryListenerConfig.createLDAPConfig("plain", InetAddress.getLoopbackAddress(), 0, null),
                InMemoryListenerConfig.createLDAPSConfig(
                        "tls", InetAddress.getLoopbackAddress(), 0, keys.createSSLServerSocketFactory(), null));
        InMemoryDirectoryServer ldap = new InMemoryDirectoryServer(config);
        ldap.add("dn: dc=example,dc=org", "objectClass: domain", "dc: example");
        ldap.startListening();
        String url = "ldap://127.0.0.1:" + ldap.getListenPort("plain");
        Map<String, String> settings = Map.of("dozo.ldap.url", url, "dozo.ldap.base", "dc=example,dc=org");

        assertOk(examine(settings), "directory", "has dc=example,dc=org");
        assertBroken(
                examine(settings, Map.of("dozo.ldap.group-base", "ou=nowhere,dc=example,dc=org")),
                "directory",
                "there is no ou=nowhere",
                "DOZO_LDAP_GROUP_BASE");
        Map<String, String> wrong = Map.of(
                "dozo.ldap.manager-dn",
                "cn=dozo",
                "dozo.ldap.manager-password-file",
                secret("wrong").toString());
        assertBroken(examine(settings, wrong), "directory", "cannot log in", "DOZO_LDAP_MANAGER_DN");
        assertBroken(
                examine(settings, Map.of("dozo.ldap.ca-file", certificate.toString())),
                "directory",
                "cannot log in",
                "DOZO_LDAP_CA_FILE");
        Map<String, String> tls = Map.of("dozo.ldap.url", "ldaps://localhost:" + ldap.getListenPort("tls"));
        assertOk(examine(settings, tls, Map.of("dozo.ldap.ca-file", certificate.toString())), "directory", "");
        assertBroken(examine(settings, tls), "directory", "cannot log in", "DOZO_LDAP_CA_FILE");

        ldap.shutDown(true);
        assertBroken(examine(settings), "directory", "cannot log in", "DOZO_LDAP_URL");
    }

    private Path secret(String content) throws IOException {
        return Files.writeString(
                Files.createFile(
                        folder.resolve("secret"),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))),
                content + "\n");
    }

    @Test
    void aWorklistThatCannotBeReadIsFound() throws Exception {
        assertThat(about(examine(Map.of()), "worklist"))
                .as("none is configured")
                .isEmpty();
        String url;
        try (OrthancServer orthanc = new OrthancServer(Files.createDirectory(folder.resolve("orthanc")), 1, false)) {
            url = orthanc.address();
            Map<String, String> settings = Map.of("dozo.worklist.url", url);
            assertBroken(examine(settings), "worklist", "no modality named worklist", "DicomModalities");

            orthanc.setModality("worklist", Ports.free());
            assertBroken(examine(settings), "worklist", "does not reach the worklist server worklist", "RIS");

            orthanc.setModality("worklist", orthanc.dicomPort());
            assertThat(of(examine(settings), "worklist"))
                    .matches(each ->
                            each.state() == State.OK && each.message().equals("worklist answers through " + url));
        }
        assertBroken(examine("dozo.worklist.url", url), "worklist", "does not answer", "Start Orthanc");
    }

    @Test
    void anOrthancThatRefusesTheLoginIsFound() throws Exception {
        HttpServer server = answering(() -> 401);
        try {
            assertBroken(
                    examine(Map.of(
                            "dozo.worklist.url",
                            "http://127.0.0.1:" + server.getAddress().getPort(),
                            "dozo.worklist.user",
                            "dozo",
                            "dozo.worklist.password-file",
                            secret("wrong").toString())),
                    "worklist",
                    "refuses the login",
                    "DOZO_WORKLIST_USER");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void anOriginThatCannotBeReadIsFound() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        Path spool = Files.createDirectory(folder.resolve("spool"));
        Map<String, String> settings = at(database);
        assertThat(examine(settings)).noneMatch(each -> each.about().startsWith("origin"));
        String orthancAt;
        try (OrthancServer orthanc = new OrthancServer(Files.createDirectory(folder.resolve("orthanc")), 1, false)) {
            orthancAt = orthanc.address();
            origin(database, "pacs", "dicomweb", orthancAt, null, spool);
            origin(database, "plain", "dicomweb", orthancAt + "/nothing", null, folder.resolve("no-spool"));
            List<Result> results = examine(settings);
            assertThat(about(results, "origin pacs"))
                    .singleElement()
                    .matches(each -> each.state() == State.OK && each.message().equals(orthancAt + " answers"));
            assertBroken(results, "origin plain", "HTTP status 404", "DICOMweb plugin");
            assertBroken(results, "origin plain", "no-spool is not a folder", "user of the service");
        }
        assertBroken(examine(settings), "origin pacs", "no connection", "Start the server");
    }

    @Test
    void aFlywheelThatRejectsTheKeyIsFound() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        AtomicInteger status = new AtomicInteger(200);
        HttpServer server = answering(status::get);
        try {
            String host = "127.0.0.1:" + server.getAddress().getPort();
            Path key = secret(host + ":__force_insecure:a-key-of-nobody");
            origin(database, "flywheel", "flywheel", "http://" + host, key, folder);
            origin(database, "keyless", "flywheel", "http://" + host, folder.resolve("none"), work);

            List<Result> results = examine(at(database));
            assertThat(about(results, "origin flywheel")).singleElement().matches(each -> each.state() == State.OK);
            assertBroken(results, "origin keyless", "cannot be read", "--secret-file");
            status.set(401);
            assertBroken(examine(at(database)), "origin flywheel", "Flywheel rejects the API key", "Put a valid key");
            status.set(404);
            assertBroken(examine(at(database)), "origin flywheel", "/auth/status: 404", "Correct the address");
            assertThat(examine(at(database)).toString()).doesNotContain("a-key-of-nobody");
        } finally {
            server.stop(0);
        }
    }

    private static void origin(
            HikariDataSource database, String name, String kind, String address, @Nullable Path secret, Path spool) {
        JdbcClient.create(database)
                .sql("""
                        insert into origin (name, kind, address, secret_file, spool, updated_at)
                        values (:name, :kind, :address, convert_to(:secret, 'UTF8'), convert_to(:spool, 'UTF8'), now())
                        """)
                .param("name", name)
                .param("kind", kind)
                .param("address", address)
                .param("secret", secret == null ? null : secret.toString())
                .param("spool", spool.toString())
                .update();
    }

    private static HttpServer answering(IntSupplier status) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(status.getAsInt(), -1);
            exchange.close();
        });
        server.start();
        return server;
    }

    @Test
    void aMailServerThatCannotBeUsedIsFound() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        assertThat(about(examine(at(database)), "mail")).as("nobody wants mail").isEmpty();
        JdbcClient.create(database).sql("""
                insert into recipient (name, channel, address, language, active, morning_report)
                values ('it', 'mail', 'it@example.org', 'en', true, false)
                """).update();
        assertBroken(examine(at(database)), "mail", "no mail server is set", "DOZO_MAIL_HOST");

        GreenMail mail = new GreenMail(new ServerSetup(Ports.free(), "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
        mail.start();
        Map<String, String> settings = new HashMap<>(Map.of(
                "dozo.mail.host",
                "127.0.0.1",
                "dozo.mail.port",
                String.valueOf(mail.getSmtp().getPort())));
        try {
            assertBroken(examine(settings), "mail", "STARTTLS", "DOZO_MAIL_TLS");
            settings.put("dozo.mail.tls", "none");
            assertOk(examine(settings), "mail", "");
            settings.put("dozo.mail.user", "dozo");
            settings.put("dozo.mail.password-file", secret("wrong").toString());
            assertBroken(examine(settings), "mail", "refuses the login", "DOZO_MAIL_USER");
            assertThat(mail.getReceivedMessages()).isEmpty();
        } finally {
            mail.stop();
        }
        assertBroken(examine(settings), "mail", "cannot be used", "start the server");
    }

    @Test
    void whatDependsOnUsersWhoHaveLeftIsFound() {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        jdbc.sql("insert into dozo_user (name, origin, password_hash, created_at) values ('jane', 'LOCAL', 'x', now())")
                .update();
        jdbc.sql(
                        "insert into recipient (name, channel, address, language, active, morning_report) values ('it', 'mail', 'jane@example.org', 'en', true, true)")
                .update();
        assertThat(about(examine(at(database)), "users")).isEmpty();

        jdbc.sql("update dozo_user set disabled = true").update();

        assertWarning(
                examine(at(database)),
                "users",
                "jane cannot log in any more, and still has the recipient it",
                "dozo user leave jane --to OTHER");
    }

    @Test
    void servicesAndWorkersNeedConnectionsTogether() {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        sites(database).save("dr", new SiteAddress("127.0.0.1", 1, "x", "/x", folder.resolve("key"), ANY_KEY), "test");
        jdbc.sql("""
                        insert into service_seen (name, url, version, seen_at, stopped)
                        values ('one', '', '1', now(), false), ('two', '', '1', now(), false)
                        """).update();
        jdbc.sql("""
                        with begun as (
                            insert into run (kind, site_id, state, requested_by, started_at, ended_at)
                            select 'nightlyBackup', site_id, 'COMPLETE', 'test', now(), now() from site returning run_id)
                        insert into run_worker (run_id, host, began_at, lease_until, joined)
                        select run_id, host, began_at, began_at, joined
                        from begun, (values ('one', now(), false), ('w1', now(), true), ('w1', now(), true),
                                            ('w2', now() - interval '8 days', true)) as worker (host, began_at, joined)
                        """).update();

        jdbc.sql("do $$ begin execute format('alter database %I connection limit 50', current_database()); end $$")
                .update();

        assertWarning(
                examine(at(database)),
                "database",
                "allows Dozo 50 connections; services and workers, 3 processes in all, may use 99",
                "max_connections");
    }

    @Test
    void aClockThatIsOffIsFound() {
        Map<String, String> settings = at(TestDatabase.fresh());
        InstantSource real = InstantSource.system();

        for (Duration off : List.of(Duration.ofHours(1), Duration.ofHours(-1))) {
            List<Result> results = Doctor.examine(
                    new Installation(given(settings), () -> real.instant().plus(off), LIMIT));
            assertWarning(results, "clock", "differ by 3,", "NTP");
        }
        assertOk(examine(settings), "clock", "");
    }

    @Test
    void anotherActiveServiceIsTold() {
        HikariDataSource database = TestDatabase.fresh();
        assertThat(of(examine(at(database)), "service").message()).isEqualTo("no service is active now");

        JdbcClient.create(database)
                .sql("update service_lease set name = 'other', lease_until = now() + interval '1 hour'")
                .update();

        assertThat(of(examine(at(database)), "service"))
                .matches(each -> each.state() == State.OK && each.message().startsWith("other is active since "))
                .matches(each -> each.message().contains("stands by"));
    }

    @Test
    void thatNobodyStandsByIsFound() {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        jdbc.sql("update service_lease set name = 'one', lease_until = now() + interval '1 hour'")
                .update();
        jdbc.sql("""
                        insert into service_seen (name, url, version, seen_at, stopped)
                        values ('one', '', '1', now(), false), ('two', '', '1', now(), false)
                        """).update();
        assertThat(examine(at(database)))
                .anyMatch(each -> each.state() == State.OK && each.message().equals("standing by: two (1)"));

        jdbc.sql("update service_seen set seen_at = '2026-01-02 03:04:05Z' where name = 'two'")
                .update();

        assertThat(examine(at(database)))
                .anyMatch(each -> each.state() == State.WARNING
                        && each.message()
                                .equals("no service stands by: two was last there at "
                                        + Zoned.text(Instant.parse("2026-01-02T03:04:05Z")))
                        && each.cure().contains("Start one of them"));
    }

    @Test
    void whoCouldNotTakeOverIsFound() {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        jdbc.sql("update service_lease set name = 'one', lease_until = now() + interval '1 hour'")
                .update();
        jdbc.sql("""
                        insert into service_seen (name, process, url, version, seen_at, stopped, equipment)
                        values ('one', 0, '', '1', now(), false, '{"version": "1", "keys": {"site-key": {"file": "/w1/site-key",
                                    "print": "ab"}}, "settings": {"DOZO_DRILL_DAYS": "1"}}'),
                               ('two', 0, '', '2', now(), false, '{"version": "2", "keys": {"site-key": {"file": "/w2/site-key",
                                    "print": "cd"}}, "settings": {"DOZO_DRILL_DAYS": "2"}}'),
                               ('w1', 77, '', '1', now(), false, '{"version": "1", "keys": {"site-key": {"file": "/w3/site-key",
                                    "print": ""}}, "settings": {}}')
                        """).update();

        List<Result> results = about(examine(at(database)), "service");

        assertThat(results)
                .extracting(each -> each.state() + " " + each.message())
                .contains(
                        "BROKEN the service that stands by, two: the key site-key in /w2/site-key differs",
                        "WARNING the service that stands by, two: DOZO_DRILL_DAYS differs",
                        "WARNING the service that stands by, two: the active service has version 1",
                        "BROKEN the worker w1: the key site-key is missing or not usable in /w3/site-key")
                .anyMatch(said -> said.startsWith("OK one is active since ")
                        && said.endsWith(", version 1; this one, " + ActiveService.machine() + ", stands by"));
        assertThat(results)
                .extracting(Result::cure)
                .contains(
                        "Copy /w1/site-key of the active service to /w2/site-key on that machine, for its user only.");
        assertThat(of(examine(at(database)), "version").message()).isEqualTo(Build.VERSION);
    }

    @Test
    void whatIsWrongWithASiteIsFound() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        Sites sites = sites(database);
        Path root = Files.createDirectory(folder.resolve("root"));
        Path full = folder.resolve("full");
        Path readOnly = folder.resolve("readonly");
        Identity.create(folder.resolve("other-key"), "test");
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
                LoopbackSite plain = LoopbackSite.openSsh(
                        folder.resolve("plain"), folder.resolve("plain-root"), 0, "ForceCommand internal-sftp");
                Tmpfs scarce = new Tmpfs(full, "size=64m");
                Tmpfs fixed = new Tmpfs(readOnly, "size=1m,ro")) {
            assertThat(List.of(scarce, fixed)).hasSize(2);
            Files.write(full.resolve("fill"), new byte[62 << 20]);
            SiteAddress good = site.address();
            sites.save("good", good, "test");
            sites.save("away", address(good, 1, good.identity(), good.root(), good.hostKey()), "test");
            sites.save("impostor", address(good, good.port(), good.identity(), good.root(), ANY_KEY), "test");
            sites.save(
                    "stranger",
                    address(good, good.port(), folder.resolve("other-key"), good.root(), good.hostKey()),
                    "test");
            sites.save(
                    "keyless",
                    address(good, good.port(), folder.resolve("no-key"), good.root(), good.hostKey()),
                    "test");
            Path open = folder.resolve("open-key");
            Identity.create(open, "test");
            Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-r-----"));
            sites.save("open", address(good, good.port(), open, good.root(), good.hostKey()), "test");
            Path renewed = folder.resolve("renewed-key");
            Files.copy(good.identity(), Identity.former(renewed), StandardCopyOption.COPY_ATTRIBUTES);
            Identity.create(renewed, "test");
            sites.save("renewed", address(good, good.port(), renewed, good.root(), good.hostKey()), "test");
            sites.save("rootless", good.withRoot(folder.resolve("nowhere").toString()), "test");
            sites.save("scarce", good.withRoot(full.toString()), "test");
            sites.save("fixed", good.withRoot(readOnly.toString()), "test");
            sites.save("plain", plain.address(), "test");
            Path newer = Files.createDirectory(folder.resolve("newer"));
            Anchor later = new Anchor(999, Digest.OF_NOTHING, Instant.now().truncatedTo(ChronoUnit.MICROS));
            Files.createDirectories(newer.resolve(".dozo/ledger"));
            Files.write(Anchor.file(later.seq()).under(newer), later.line());
            Files.createDirectories(newer.resolve("p/E1"));
            Files.writeString(newer.resolve("p/E1/bag-info.txt"), "Dozo-Manifest: 2\n");
            sites.save("newer", good.withRoot(newer.toString()), "test");

            List<Result> results = examine(at(database));

            assertBroken(results, "site away", "does not answer", "dozo site change away");
            assertBroken(results, "site impostor", "differs from the pinned one", "Ask the site's administrators");
            assertBroken(results, "site stranger", "does not accept the private key", "authorized_keys");
            assertWarning(results, "site renewed", "accepts only the key before the present one", "authorized_keys");
            assertBroken(results, "site keyless", "no-key", "user of the service");
            assertBroken(results, "site open", "other users can read", "chmod 600");
            assertBroken(results, "site rootless", "is not a readable folder", "Create the folder");
            assertWarning(results, "site scarce", "only ", "Free some space");
            assertBroken(results, "site fixed", "cannot write below the root", "read-write");
            assertWarning(results, "site plain", "every file is read back", "sha256sum");
            assertWarning(
                    results,
                    "site newer",
                    "2 manifests of 1 experiment that this database does not know, such as p/E1",
                    "dozo rebuild-catalogue");
            assertHint(results, "site good", "steals the key", "hardened-site.md");
            assertThat(about(results, "site good"))
                    .extracting(Result::state)
                    .contains(State.OK)
                    .doesNotContain(State.WARNING, State.BROKEN);
        }
    }

    @Test
    void aSiteThatSaysNothingEndsWithTheTime() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        Identity.create(folder.resolve("key"), "test");
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            sites(database)
                    .save(
                            "silent",
                            new SiteAddress(
                                    "127.0.0.1", silent.getLocalPort(), "x", "/x", folder.resolve("key"), ANY_KEY),
                            "test");

            List<Result> results = Doctor.examine(
                    new Installation(given(at(database)), InstantSource.system(), Duration.ofSeconds(5)));

            assertBroken(results, "site silent", "no answer within 5 s", "--timeout");
        }
    }

    @Test
    void experimentsWithoutASiteAreFound() {
        HikariDataSource database = TestDatabase.fresh();
        register(JdbcClient.create(database), "E1", folder);

        assertWarning(examine(at(database)), "sites", "no experiment is backed up", "dozo site add");
    }

    @Test
    void sourcesThatAreNotThereAreFound() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        assertThat(of(examine(at(database)), "sources").message()).isEqualTo("none is registered");
        Path file = Files.writeString(folder.resolve("file"), "x");
        register(jdbc, "E1", Files.createDirectory(folder.resolve("empty")));
        register(jdbc, "E2", folder.resolve("gone"));
        Path tooLong = folder.resolve("x".repeat(300));
        register(jdbc, "E3", tooLong);
        register(jdbc, "E4", folder);
        register(jdbc, "E5", file);

        List<Result> results = examine(at(database));

        assertWarning(results, "sources", "1 of 5 are empty: " + folder.resolve("empty"), "Mount");
        assertWarning(results, "sources", "1 of 5 do not exist: " + folder.resolve("gone"), "Mount");
        assertBroken(results, "sources", "1 of 5 cannot be read: " + tooLong, "read these");
        assertThat(about(results, "sources")).extracting(Result::message).contains("2 of 5 can be read");
    }

    @Test
    void aDeadFileServerIsFoundAndHoldsNothingUp() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        Path dead = Files.createDirectory(folder.resolve("dead server"));
        for (int i = 0; i < 150; i++) {
            register(jdbc, "E" + i, dead.resolve("E" + i));
        }
        register(jdbc, "here", folder);
        try (HungMount _ = new HungMount(dead)) {
            List<Result> results = examine(at(database));

            assertBroken(results, "sources", "150 of 151 do not answer", "file server");
            assertThat(about(results, "sources")).extracting(Result::message).contains("1 of 151 can be read");
        }
    }

    @Test
    void aDeadFileServerBehindLinksIsFound() throws Exception {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        Path dead = Files.createDirectory(folder.resolve("dead"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), dead);
        for (int i = 0; i < 150; i++) {
            register(jdbc, "E" + i, link.resolve("E" + i));
        }
        try (HungMount _ = new HungMount(dead)) {
            List<Result> results = examine(at(database));

            assertBroken(results, "sources", "100 of 150 do not answer", "file server");
            assertWarning(results, "sources", "50 of 150 were not checked", "again");
        }
    }

    @Test
    void nightsThatNeverBeginOrNeverEndAreFound() {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);
        Sites sites = sites(database);
        int site = sites.save("dr", new SiteAddress("127.0.0.1", 1, "x", "/x", work.resolve("key"), ANY_KEY), "test")
                .id();
        SiteTimetables timetables = new SiteTimetables(jdbc, sites, new Ledger(jdbc, InstantSource.system()));
        Map<String, String> settings = new HashMap<>(at(database));
        assertThat(about(examine(settings), "schedule"))
                .singleElement()
                .matches(each ->
                        each.state() == State.OK && each.message().contains("the next night to site dr is due at"));

        settings.put("dozo.schedule.cron", "-");
        settings.put("dozo.scrub.window", "-");
        timetables.set("dr", List.of("daily 00:00-23:50 closed", "daily 23:50-24:00 10kB/s"), "test");
        jdbc.sql("""
                        insert into run (kind, site_id, state, requested_by, started_at)
                        values ('nightlyBackup', :site, 'RUNNING', 'x', now())
                        """).param("site", site).update();
        jdbc.sql("""
                        insert into run_forecast (run_id, made_at, until_at, nights, experiments, unknown, bytes, bytes_low,
                            bytes_middle, bytes_high, experiments_low, experiments_middle, experiments_high)
                        select run_id, now(), now(), 0, 7, 0, 1, 1, 1, 1, 0, 0, 0 from run
                        """).update();
        List<Result> results = examine(settings);

        assertHint(results, "schedule", "no night to site dr is ever due", "dozo site schedule dr");
        assertWarning(results, "first steps", "A site has no schedule", "dozo step dismiss schedule");
        assertWarning(results, "schedule", "for only 70 minutes a week", "dozo site timetable dr");
        assertWarning(results, "schedule", "never allows more than 80 kbit/s", "dozo site timetable dr");
        assertWarning(results, "schedule", "7 experiments are not all safe at site dr", "dozo forecast");
        assertHint(results, "schedule", "never read again", "DOZO_SCRUB_WINDOW");
        assertHint(examine("dozo.schedule.cron", "-"), "schedule", "DOZO_SCHEDULE_CRON is -", "0 0 1");
        assertOk(examine("dozo.schedule.zone", "UTC"), "time zone", "UTC");
    }

    @Test
    void firstStepsThatAreNeitherDoneNorDismissedAreFound() {
        HikariDataSource database = TestDatabase.fresh();
        JdbcClient jdbc = JdbcClient.create(database);

        assertThat(about(examine(at(database)), "first steps"))
                .as("all but the schedule, which a setting gives")
                .hasSize(7)
                .allMatch(each -> each.state() == State.WARNING);
        assertWarning(
                examine(at(database)),
                "first steps",
                "There is no recipient for alerts",
                "If it is not needed: dozo step dismiss recipient --reason TEXT.");

        jdbc.sql("insert into step_dismissal values ('recipient', 'jane', now(), 'x')")
                .update();
        Map<String, String> settings = new HashMap<>(at(database));
        settings.put("dozo.recovery.recipients", "age1pexzu9f8lk6lh88y4dezl9846wc27j9uzdfd5v7s3qe2jxdkscuqwudqa6");
        assertThat(about(examine(settings), "first steps"))
                .as("one is dismissed, one is done")
                .extracting(Result::message)
                .noneMatch(each -> each.contains("recipient for alerts") || each.contains("stand-in"));
    }

    @Test
    void thePersonReadsAListAndTheProgramReadsTheExitCode() {
        Ended ended = Ended.of("doctor");

        assertThat(ended.out())
                .containsPattern("(?m)^ok       Java +25")
                .contains("cure: Start Dozo with ./dozo, or add the missing options")
                .containsPattern("broken: \\d+, warnings: \\d+, hints: \\d+, ok: \\d+\n$");
        assertThat(ended.code()).as("the JVM of tests has other options").isEqualTo(1);
        assertThat(Ended.of("doctor", "--nagios").ends(1).out())
                .matches("DOZO WARNING - [^|]+ \\| 'broken'=0 'warnings'=\\d+\n");
        Ended.of("doctor", "--timeout", "0").ends(2);
        assertThat(Ended.of("doctor", "--timeout", "3601").err()).contains("expected 1 to 3600");
    }

    private static void role(JdbcClient jdbc, String name) {
        jdbc.sql("drop role if exists " + name).update();
        jdbc.sql("create role %s login password 'hush'".formatted(name)).update();
    }

    private static void set(JdbcClient jdbc, String setting, String value) {
        // Also where the database is read-only.
        jdbc.sql(
                        "set default_transaction_read_only = off; do $$ begin execute format('alter database %%I set %s = %s', current_database()); end $$"
                                .formatted(setting, value))
                .update();
    }

    private static boolean isOff(HikariDataSource database, String setting) {
        return JdbcClient.create(database)
                .sql("show " + setting)
                .query(String.class)
                .single()
                .equals("off");
    }

    private static void register(JdbcClient jdbc, String code, Path source) {
        jdbc.sql("insert into project (code, created_at) values ('P1', now()) on conflict do nothing")
                .update();
        jdbc.sql("""
                        insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                        select project_id, :code, 'filesystem', :root, now(), 'test' from project
                        """)
                .param("code", code)
                .param("root", source.toString().getBytes(StandardCharsets.UTF_8))
                .update();
    }

    private static Sites sites(HikariDataSource database) {
        JdbcClient jdbc = JdbcClient.create(database);
        return new Sites(jdbc, new Ledger(jdbc, InstantSource.system()), InstantSource.system());
    }

    private static SiteAddress address(SiteAddress good, int port, Path identity, String root, String hostKey) {
        return new SiteAddress(good.host(), port, good.user(), root, identity, hostKey);
    }

    private static Map<String, String> at(HikariDataSource database) {
        return as(null, database);
    }

    private static Map<String, String> as(@Nullable String user, HikariDataSource database) {
        return Map.of(
                "dozo.db.url", String.valueOf(database.getJdbcUrl()),
                "dozo.db.user", user == null ? String.valueOf(database.getUsername()) : user,
                "dozo.db.password", user == null ? String.valueOf(database.getPassword()) : "hush");
    }

    private List<Result> examine(Map<String, String> settings) {
        return Doctor.examine(new Installation(given(settings), InstantSource.system(), LIMIT));
    }

    private List<Result> examine(String setting, String value) {
        return examine(Map.of(setting, value));
    }

    /** Examines with several settings; the later ones count. */
    @SafeVarargs
    private final List<Result> examine(Map<String, String>... settings) {
        Map<String, String> all = new HashMap<>();
        for (Map<String, String> each : settings) {
            all.putAll(each);
        }
        return examine(all);
    }

    private Given given(Map<String, String> settings) {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
        environment.getPropertySources().remove(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);
        Map<String, Object> all = new HashMap<>(Map.of("dozo.work", work.toString(), "dozo.http.port", "0"));
        all.putAll(settings);
        environment.getPropertySources().addFirst(new MapPropertySource("test", all));
        return new Given(environment, Application.SETTINGS);
    }

    private static Result of(List<Result> results, String about) {
        return about(results, about).getFirst();
    }

    private static List<Result> about(List<Result> results, String about) {
        return results.stream().filter(each -> each.about().equals(about)).toList();
    }

    private static void assertOk(List<Result> results, String about, String message) {
        assertThat(of(results, about).state()).isEqualTo(State.OK);
        assertThat(of(results, about).message()).contains(message);
    }

    private static void assertBroken(List<Result> results, String about, String message, String cure) {
        assertFound(results, about, State.BROKEN, message, cure);
    }

    private static void assertWarning(List<Result> results, String about, String message, String cure) {
        assertFound(results, about, State.WARNING, message, cure);
    }

    private static void assertHint(List<Result> results, String about, String message, String cure) {
        assertFound(results, about, State.HINT, message, cure);
    }

    private static void assertFound(List<Result> results, String about, State state, String message, String cure) {
        assertThat(about(results, about))
                .anyMatch(result -> result.state() == state
                        && result.message().contains(message)
                        && result.cure().contains(cure));
    }
}
