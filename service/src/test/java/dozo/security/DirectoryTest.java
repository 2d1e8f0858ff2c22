package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.unboundid.ldap.listener.InMemoryDirectoryServer;
import com.unboundid.ldap.listener.InMemoryDirectoryServerConfig;
import com.unboundid.ldap.listener.InMemoryListenerConfig;
import com.unboundid.util.ssl.KeyStoreKeyManager;
import com.unboundid.util.ssl.SSLUtil;
import com.unboundid.util.ssl.TrustAllTrustManager;
import dozo.Answer;
import dozo.RunningService;
import dozo.db.StartsServices;
import dozo.ledger.Ledger;
import dozo.people.Tokens;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Users of an LDAP directory, tested against one in this process: login, groups, and a directory that does not answer
 * or no longer knows a user.
 */
@StartsServices(2)
class DirectoryTest {

    private static final String BASE = "dc=example,dc=org";
    private static final String TANAKA = "uid=tanaka,ou=people," + BASE;
    private static final String PASSWORD = "tanaka's password";

    @TempDir
    static Path folder;

    private static InMemoryDirectoryServer ldap;

    @AutoClose
    private RunningService service;

    @BeforeAll
    static void startDirectory() throws Exception {
        ldap = directory(InMemoryListenerConfig.createLDAPConfig("plain", InetAddress.getLoopbackAddress(), 0, null));
    }

    @BeforeEach
    void renewDirectory() throws Exception {
        ldap.clear();
        fill(ldap);
        // At the same port, if a test has stopped it.
        ldap.restartServer();
        service = start(Map.of());
    }

    @AfterAll
    static void stopDirectory() {
        ldap.shutDown(true);
    }

    @Test
    void groupsGiveRolesAndProjects() throws Exception {
        service.createProject("P1");
        service.createProject("P2");

        Answer me = ask("Tanaka", PASSWORD, "/me");

        me.expect(200);
        me.has("/origin", "DIRECTORY");
        assertThat(me.at("/roles").toString()).isEqualTo("[\"LAB_MANAGER\"]");
        assertThat(me.at("/projects").toString()).isEqualTo("[\"P1\"]");
        ask("tanaka", PASSWORD, "/projects/P1").expect(200);
        ask("tanaka", PASSWORD, "/projects/P2").expect(404);
        assertThat(service.ledger())
                .filteredOn(entry -> entry.subject().equals("tanaka"))
                .extracting(Ledger.LedgerEntry::action)
                .containsExactly("user.created", "user.changed");
    }

    @Test
    void whatIsWrongIsRefused() throws Exception {
        for (String password : List.of("wrong", "", "*")) {
            ask("tanaka", password, "/me").expect(401);
        }
        for (String name : List.of("nobody", "*", "tanaka)(uid=*", "t\u0000", "")) {
            ask(name, PASSWORD, "/me").expect(401);
        }
    }

    @Test
    void theManagersPasswordIsReadAtEachLogin() throws Exception {
        Directory directory = new Directory(settings("ldap://127.0.0.1:" + ldap.getListenPort(), ""));
        assertThat(directory.login("tanaka", PASSWORD)).isInstanceOf(Directory.Known.class);

        Files.writeString(folder.resolve("manager"), "another\n");
        assertThatThrownBy(() -> directory.login("tanaka", PASSWORD)).isInstanceOf(Directory.Silent.class);

        managerPassword();
        assertThat(directory.login("tanaka", PASSWORD)).isInstanceOf(Directory.Known.class);
    }

    @Test
    void whoIsInNoGroupMayDoNothingAndIsToldSo() throws Exception {
        assertThat(ask("sato", "sato's password", "/projects").expect(403).string("/detail"))
                .contains("none of your groups has a role");
        ask("sato", "sato's password", "/me").expect(200);
    }

    @Test
    void aDirectoryThatIsDownLeavesLocalUsersIn() throws Exception {
        ldap.shutDown(true);

        Answer answer = ask("tanaka", PASSWORD, "/me");

        answer.isProblem(503);
        assertThat(answer.headers().firstValue("Retry-After")).isPresent();
        assertThat(answer.string("/detail")).contains("directory").contains("Local users");
        service.get("/api/v1/me").expect(200);
    }

    @Test
    void aDirectoryThatNeverAnswersIsWaitedForNoLongerThanIsSet() throws Exception {
        service.close();
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            service = start(
                    Map.of("dozo.ldap.url", "ldap://127.0.0.1:" + silent.getLocalPort(), "dozo.ldap.timeout", "300ms"));
            long begin = System.nanoTime();

            ask("tanaka", PASSWORD, "/me").expect(503);
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(60));
            service.get("/api/v1/me").expect(200);
        }
    }

    @Test
    void whoIsRemovedFromTheDirectoryLosesTokensToo() throws Exception {
        String secret = token();
        with(secret).expect(200);

        ldap.delete(TANAKA);
        with(secret).expect(200);
        age("20 minutes");

        with(secret).expect(401);
        with(secret).expect(401);
        service.get("/api/v1/users/tanaka").has("/gone", true);
    }

    @Test
    void whoLeavesAGroupLosesItsRole() throws Exception {
        String secret = token();

        ldap.delete("cn=Lab Tanaka,ou=groups," + BASE);
        age("20 minutes");

        service.with("Bearer " + secret).get("/api/v1/projects").expect(403);
    }

    @Test
    void whatTheDirectorySaidCountsForADayWhileItIsSilent() throws Exception {
        String secret = token();
        ldap.shutDown(true);

        age("23 hours");
        with(secret).expect(200);
        age("25 hours");
        with(secret).expect(503);
    }

    @Test
    void aUserOfTheDirectoryHasNoPasswordOrRolesHere() throws Exception {
        ask("tanaka", PASSWORD, "/me");

        Answer roles = service.patch("/api/v1/users/tanaka", "{\"roles\": [\"ADMIN\"]}");
        Answer password = service.patch("/api/v1/users/tanaka", "{\"password\": \"a longer password\"}");
        Answer disabled = service.patch("/api/v1/users/tanaka", "{\"disabled\": true}");

        roles.has("/errors/0/field", "roles");
        password.has("/errors/0/field", "password");
        disabled.expect(200);
        ask("tanaka", PASSWORD, "/me").expect(401);
    }

    @Test
    void aLocalUserIsNeverLookedForInTheDirectory() throws Exception {
        ldap.add(
                "dn: uid=admin,ou=people," + BASE,
                "objectClass: inetOrgPerson",
                "uid: admin",
                "cn: a",
                "sn: a",
                "userPassword: the directory's password");
        ask("admin", "the directory's password", "/me").expect(401);
    }

    @Test
    void passwordsGoOverTlsToWhomTheCertificateIsFor() throws Exception {
        Path trusted = folder.resolve("ca.pem");
        SSLUtil right = keys("localhost", trusted);
        SSLUtil foreign = keys("ldap.example.org", trusted);
        List<InMemoryDirectoryServer> servers =
                List.of(overTls(right), startingTls(right), overTls(foreign), startingTls(foreign));
        try {
            Map<String, Class<?>> expected = Map.of(
                    "ldaps://localhost:" + servers.get(0).getListenPort(), Directory.Known.class,
                    "ldap://localhost:" + servers.get(1).getListenPort(), Directory.Known.class,
                    "ldaps://localhost:" + servers.get(2).getListenPort(), Directory.Silent.class,
                    "ldap://localhost:" + servers.get(3).getListenPort(), Directory.Silent.class,
                    "ldap://localhost:" + ldap.getListenPort(), Directory.Silent.class);
            for (Map.Entry<String, Class<?>> each : expected.entrySet()) {
                assertThat(answer(settings(each.getKey(), trusted.toString())))
                        .as(each.getKey())
                        .isInstanceOf(each.getValue());
            }
            assertThat(answer(settings("ldaps://localhost:" + servers.get(0).getListenPort(), "")))
                    .isInstanceOf(Directory.Silent.class);
        } finally {
            servers.forEach(server -> server.shutDown(true));
        }
    }

    private static InMemoryDirectoryServer overTls(SSLUtil keys) throws Exception {
        return directory(InMemoryListenerConfig.createLDAPSConfig(
                "tls", InetAddress.getLoopbackAddress(), 0, keys.createSSLServerSocketFactory(), null));
    }

    private static InMemoryDirectoryServer startingTls(SSLUtil keys) throws Exception {
        return directory(InMemoryListenerConfig.createLDAPConfig(
                "start", InetAddress.getLoopbackAddress(), 0, keys.createSSLSocketFactory()));
    }

    /** Creates a key with a certificate for a host, and adds the certificate to the trusted ones. */
    private SSLUtil keys(String host, Path trusted) throws Exception {
        Path store = MadeKeys.store(folder.resolve(host + ".p12"), "EC", "dns:" + host, "-1H");
        Files.writeString(trusted, MadeKeys.certificate(store), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        return new SSLUtil(
                new KeyStoreKeyManager(store.toString(), MadeKeys.PASSWORD.toCharArray(), "PKCS12", "a"),
                new TrustAllTrustManager());
    }

    private static Object answer(DirectorySettings settings) {
        try {
            return new Directory(settings).login("tanaka", PASSWORD);
        } catch (Directory.Silent silent) {
            return silent;
        }
    }

    private DirectorySettings settings(String url, String caFile) throws Exception {
        return new DirectorySettings(
                url,
                caFile,
                BASE,
                "(uid={0})",
                "",
                "cn=manager",
                managerPassword().toString(),
                "lab tanaka=LAB_MANAGER",
                "",
                Duration.ofSeconds(5),
                Duration.ofMinutes(15));
    }

    private Path managerPassword() throws Exception {
        return Files.writeString(folder.resolve("manager"), "manager's password\n");
    }

    private RunningService start(Map<String, String> more) throws Exception {
        Map<String, String> settings = new HashMap<>(Map.of(
                "dozo.ldap.url",
                "ldap://127.0.0.1:" + ldap.getListenPort(),
                "dozo.ldap.base",
                BASE,
                "dozo.ldap.manager-dn",
                "cn=manager",
                "dozo.ldap.manager-password-file",
                managerPassword().toString(),
                "dozo.ldap.roles",
                "Lab Tanaka=LAB_MANAGER;operators=OPERATOR",
                "dozo.ldap.projects",
                "lab tanaka=P1,NOT-YET"));
        settings.putAll(more);
        return RunningService.shared(settings);
    }

    private static InMemoryDirectoryServer directory(InMemoryListenerConfig listener) throws Exception {
        InMemoryDirectoryServerConfig config = new InMemoryDirectoryServerConfig(BASE);
        config.setListenerConfigs(listener);
        config.addAdditionalBindCredentials("cn=manager", "manager's password");
        config.setSchema(null);
        InMemoryDirectoryServer server = new InMemoryDirectoryServer(config);
        fill(server);
        server.startListening();
        return server;
    }

    private static void fill(InMemoryDirectoryServer server) throws Exception {
        server.add("dn: " + BASE, "objectClass: domain", "dc: example");
        for (String unit : Set.of("people", "groups")) {
            server.add("dn: ou=%s,%s".formatted(unit, BASE), "objectClass: organizationalUnit", "ou: " + unit);
        }
        for (String name : List.of("tanaka", "sato")) {
            server.add(
                    "dn: uid=%s,ou=people,%s".formatted(name, BASE),
                    "objectClass: inetOrgPerson",
                    "uid: " + name,
                    "cn: " + name,
                    "sn: " + name,
                    "userPassword: " + name + "'s password");
        }
        server.add(
                "dn: cn=Lab Tanaka,ou=groups," + BASE,
                "objectClass: groupOfNames",
                "cn: Lab Tanaka",
                "member: " + TANAKA);
    }

    /** Returns a token of a user who has logged in. */
    private String token() {
        ask("tanaka", PASSWORD, "/me");
        return service.bean(Tokens.class).create("tanaka", "t", null, false, 1).secret();
    }

    /** Makes the directory's last answer this old. */
    private void age(String interval) {
        service.jdbc()
                .sql("update dozo_user set confirmed_at = now() - :interval::interval where origin = 'DIRECTORY'")
                .param("interval", interval)
                .update();
    }

    private Answer ask(String name, String password, String path) {
        return service.with(RunningService.basic(name, password)).get("/api/v1" + path);
    }

    private Answer with(String secret) {
        return service.with("Bearer " + secret).get("/api/v1/me");
    }
}
