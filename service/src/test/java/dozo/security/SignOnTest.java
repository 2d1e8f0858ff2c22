package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Answer;
import dozo.RunningService;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.people.Role;
import dozo.people.Tokens;
import dozo.people.Users;
import dozo.people.Users.Realm;
import dozo.security.TestProvider.Person;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Redirect;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Single sign-on, tested against a provider of OpenID Connect in this process. */
@ExtendWith(OutputCaptureExtension.class)
@StartsServices(5)
class SignOnTest {

    @TempDir
    static Path folder;

    private static TestProvider provider;

    @AutoClose
    private RunningService service;

    @BeforeAll
    static void makeProvider() {
        provider = TestProvider.at(folder);
    }

    @BeforeEach
    void start() throws Exception {
        provider.start();
        provider.spoils(token -> {});
        service = registered(RunningService.shared(settings(Map.of())));
    }

    @AfterAll
    static void stopProvider() throws Exception {
        provider.close();
    }

    @Test
    void groupsGiveRolesAndProjectsAtEachLogin(CapturedOutput log) {
        service.createProject("P1");
        provider.sits("7", "Tanaka", "/Lab Tanaka", "unknown");

        HttpClient browser = browser();
        assertThat(look(browser, "/login").text())
                .contains("Log in with Centre", "href=\"/oauth2/authorization/dozo\"");
        assertThat(service.look(browser, "/login", "ja").text()).contains("Centre でログイン");
        String anonymous = session(browser);
        assertThat(logIn(browser).expect(200).uri()).hasPath("/").hasHost("127.0.0.1");
        assertThat(session(browser)).as("a new session").isNotEqualTo(anonymous);
        user("tanaka").has("/origin", "OIDC");
        assertThat(user("tanaka").at("/roles").toString()).isEqualTo("[\"LAB_MANAGER\"]");
        assertThat(user("tanaka").at("/projects").toString()).isEqualTo("[\"P1\"]");
        assertThat(look(service.browser(), "/administration/users").text()).contains("tanaka", "single sign-on");

        provider.sits("7", "tanaka", "operators");
        look(browser, "/sites").expect(403);
        logIn(browser);
        look(browser, "/sites").expect(200);
        assertThat(user("tanaka").at("/projects").toString()).isEqualTo("[]");
        assertThat(service.ledger())
                .filteredOn(entry -> entry.subject().equals("tanaka"))
                .extracting(Ledger.LedgerEntry::action)
                .containsExactly("user.created", "user.changed", "user.changed");
        assertThat(log.getAll()).contains("tanaka (OIDC) logged in").doesNotContain("eyJ", TestProvider.SECRET);
    }

    @Test
    void theBrowserComesToThePageThatWasWantedAndNowhereElse() {
        provider.sits("7", "tanaka", "operators");
        HttpClient browser = browser();
        assertThat(look(browser, "/sites").uri()).hasPath("/login");
        assertThat(logIn(browser).uri()).hasPath("/sites");

        Answer elsewhere = get(
                browser(), service.url() + ProviderLogins.START + "?redirect_uri=https://evil.example.org/&continue=x");
        assertThat(elsewhere.uri()).hasHost("127.0.0.1").hasPath("/");
    }

    @Test
    void theRequestHasStateNonceAndProofKey() {
        Answer begun = get(bare(), service.url() + ProviderLogins.START);

        begun.expect(302);
        assertThat(location(begun))
                .startsWith(provider.issuer() + "/oauth2/authorize?")
                .contains("state=", "nonce=", "code_challenge_method=S256", "code_challenge=")
                .contains("redirect_uri=" + service.url() + Provider.CALLBACK)
                .doesNotContain("client_secret");
    }

    @Test
    void whoOnlyBeginsALoginTakesNoMemoryHere() {
        Answer begun = get(bare(), service.url() + ProviderLogins.START);

        assertThat(begun.headers().allValues("Set-Cookie"))
                .hasSize(1)
                .allMatch(
                        cookie -> cookie.matches("dozo-begun=[\\w-]+; Path=/; Max-Age=600; .*HttpOnly; SameSite=Lax"));
        for (String cookie : List.of("", "!", "bm90aGluZw")) {
            Answer answer = get(bare(), Provider.CALLBACK + "?state=s&code=c", "Cookie", "dozo-begun=" + cookie);
            assertThat(location(answer)).endsWith("/login?failed");
            assertThat(answer.headers().allValues("Set-Cookie")).isEmpty();
        }
    }

    @Test
    void anAnswerCountsOnceAndOnlyInTheBrowserThatAsked() {
        provider.sits("7", "tanaka", "operators");
        HttpClient browser = bare();
        Answer begun = get(browser, service.url() + ProviderLogins.START);
        String answer = location(get(browser, location(begun)));
        assertThat(answer).startsWith(service.url() + Provider.CALLBACK);

        assertThat(location(get(bare(), answer))).endsWith("/login?failed");
        assertThat(location(get(browser, answer))).doesNotContain("/login");
        assertThat(location(get(browser, answer))).endsWith("/login?failed");

        HttpClient other = bare();
        get(other, location(get(other, service.url() + ProviderLogins.START)));
        assertThat(location(get(other, answer))).as("another state").endsWith("/login?failed");
        assertThat(location(get(other, service.url() + Provider.CALLBACK))).endsWith("/login?failed");
        assertThat(location(get(other, service.url() + "/oauth2/authorization/other")))
                .endsWith("/login?failed");
    }

    @Test
    void anIdTokenForOthersIsRefused(CapturedOutput log) {
        provider.sits("7", "tanaka", "operators");
        provider.spoils(token -> token.getClaims().audience(List.of("another")));
        refused("failed", "did not complete");
        provider.spoils(token -> token.getClaims().issuer("http://localhost:1"));
        refused("failed", "did not complete");
        provider.spoils(token -> token.getClaims().claim("nonce", "of another login"));
        refused("failed", "did not complete");
        provider.spoils(token ->
                token.getClaims().issuedAt(java.time.Instant.EPOCH).expiresAt(java.time.Instant.EPOCH.plusSeconds(9)));
        refused("failed", "did not complete");
        service.get("/api/v1/users/tanaka").expect(404);
        assertThat(log.getAll())
                .contains("failed: invalid_id_token", "invalid_nonce")
                .doesNotContain("eyJ");

        provider.spoils(token -> {});
        assertThat(logIn(browser()).uri()).hasPath("/");
    }

    @Test
    void whoIsInNoGroupMayDoNothingAndIsToldSo() {
        provider.sits(new Person("8", Map.of("preferred_username", "sato")));
        HttpClient browser = browser();

        assertThat(logIn(browser).expect(403).text()).contains("none of your groups has a role here");
        look(browser, "/administration").expect(200);

        provider.sits(new Person("8", Map.of("preferred_username", "sato", "groups", "operators")));
        logIn(browser).expect(200);
    }

    @Test
    void nobodyTakesOverAnotherUser(CapturedOutput log) {
        service.bean(Users.class).create("local", "a longer password", Set.of(Role.OPERATOR), "test");
        for (String name : List.of("local", "admin", Ledger.SYSTEM, "demo", "x y", "")) {
            provider.sits("9", name, "operators");
            refused("taken", "belongs to another user");
        }
        provider.sits(new Person("9", Map.of("groups", "operators")));
        refused("taken", "belongs to another user");
        provider.sits("x".repeat(2_000), "long", "operators");
        refused("taken", "belongs to another user");
        user("local").has("/origin", "LOCAL");

        provider.sits("7", "tanaka", "operators");
        logIn(browser());
        provider.sits("9", "tanaka", "admins");
        refused("taken", "belongs to another user");
        provider.sits("7", "renamed", "operators");
        refused("taken", "belongs to another user");
        assertThat(user("tanaka").at("/roles").toString()).isEqualTo("[\"OPERATOR\"]");
        assertThat(log.getAll()).contains("the name tanaka belongs to another user");

        // A person who was created anew at the provider, and whom an administrator lets in.
        service.patch("/api/v1/users/tanaka", "{\"disabled\": true}");
        service.patch("/api/v1/users/tanaka", "{\"disabled\": false}");
        provider.sits("9", "tanaka", "operators");
        assertThat(logIn(browser()).uri()).hasPath("/");
    }

    @Test
    void aDisabledUserStaysOut() {
        provider.sits("7", "tanaka", "operators");
        HttpClient browser = browser();
        logIn(browser);

        service.patch("/api/v1/users/tanaka", "{\"disabled\": true}");

        assertThat(look(browser, "/sites").uri()).hasPath("/login");
        refused("closed", "Your user is disabled here");
    }

    @Test
    void aUserOfTheProviderHasNoPasswordOrRolesHere() {
        provider.sits("7", "tanaka", "operators");
        logIn(browser());

        Answer roles = service.patch("/api/v1/users/tanaka", "{\"roles\": [\"ADMIN\"]}");
        Answer password = service.patch("/api/v1/users/tanaka", "{\"password\": \"a longer password\"}");

        roles.has("/errors/0/field", "roles");
        password.has("/errors/0/field", "password");
        service.with(RunningService.basic("tanaka", "")).get("/api/v1/me").expect(401);
    }

    @Test
    void tokensStopWhenTheLastLoginIsTooLongAgo() {
        provider.sits("7", "tanaka", "operators");
        logIn(browser());
        String secret =
                service.bean(Tokens.class).create("tanaka", "t", null, false, 1).secret();
        with(secret).expect(200);

        age("29 days");
        with(secret).expect(200);
        age("31 days");
        with(secret).expect(401);
        assertThat(with(secret).string("/detail")).contains("log in to the pages again");

        logIn(browser());
        with(secret).expect(200);
    }

    @Test
    void logoutEndsTheSessionHereAndAtTheProvider(CapturedOutput log) {
        provider.sits("7", "tanaka", "operators");
        HttpClient browser = browser();
        logIn(browser);

        Answer out = service.submit(browser, "/logout", "");

        out.expect(200);
        assertThat(out.text()).doesNotContain("eyJ");
        assertThat(look(browser, "/sites").uri()).hasPath("/login");
        String there = out.headers().firstValue("Refresh").orElseThrow().replaceFirst("^0;url=", "");
        assertThat(there).startsWith(provider.issuer() + "/connect/logout?");
        Answer back = get(browser, there);
        assertThat(back.uri()).isEqualTo(URI.create(service.url() + "/login?logout"));
        assertThat(back.text()).contains("You have logged out");
        assertThat(log.getAll()).doesNotContain("eyJ");

        assertThat(service.submit(service.browser(), "/logout", "").uri()).hasPath("/login");
    }

    @Test
    void aProviderThatIsAwayLeavesLocalUsersInAndIsUsedWhenItIsBack(CapturedOutput log) throws Exception {
        provider.sits("7", "tanaka", "operators");
        provider.close();
        // It knows nothing of the provider yet.
        startOther(Map.of());

        refused("away", "does not answer");
        look(service.browser(), "/sites").expect(200);
        assertThat(log.getAll()).contains("a login by " + provider.issuer() + " failed: ");

        provider.start();
        assertThat(logIn(browser()).uri()).hasPath("/");

        // Away between the two halves of a login.
        HttpClient browser = bare();
        String answer = location(get(browser, location(get(browser, service.url() + ProviderLogins.START))));
        provider.close();
        assertThat(location(get(browser, answer))).endsWith("/login?away");
    }

    @Test
    void aWrongSecretOrIssuerIsToldToTheLogOnly(CapturedOutput log) throws Exception {
        provider.sits("7", "tanaka", "operators");
        Path secret = Files.writeString(folder.resolve("secret"), "another secret\n");
        refused("failed", "did not complete");
        assertThat(log.getAll())
                .contains("HTTP 401; is the client secret right?")
                .doesNotContain("another secret");
        Files.writeString(secret, TestProvider.SECRET + "\n");
        assertThat(logIn(browser()).uri()).as("the file is read again").hasPath("/");

        startOther(Map.of("dozo.oidc.issuer", provider.issuer().replace("localhost", "127.0.0.1")));
        refused("away", "does not answer");
        assertThat(log.getAll()).contains("it names itself " + provider.issuer());
    }

    @Test
    void theRedirectIsThatOfTheServiceUrl() throws Exception {
        startOther(Map.of("dozo.service.url", "https://dozo.example.org/"));

        assertThat(look(browser(), "/login").text())
                .contains("href=\"https://dozo.example.org/oauth2/authorization/dozo\"");
        assertThat(location(get(bare(), service.url() + ProviderLogins.START)))
                .contains("redirect_uri=https://dozo.example.org/login/oauth2/code/dozo");
    }

    @Test
    void withoutAProviderThereIsNoWayToIt() throws Exception {
        startOther(Map.of("dozo.oidc.issuer", ""));
        // As by an earlier login.
        assertThat(service.bean(Users.class).confirm("tanaka", Realm.OIDC, "7", Set.of(Role.OPERATOR), Set.of()))
                .isPresent();
        String secret =
                service.bean(Tokens.class).create("tanaka", "t", null, false, 1).secret();

        assertThat(look(browser(), "/login").text()).doesNotContain("/oauth2/");
        assertThat(get(browser(), service.url() + ProviderLogins.START).uri()).hasPath("/login");
        with(secret).expect(401);
    }

    @Test
    void theDoctorsQuestionFindsWhatIsWrong() throws Exception {
        assertThat(fault(Map.of())).isEmpty();
        assertThat(fault(Map.of("issuer", provider.issuer().replace("localhost", "127.0.0.1"))))
                .contains(ProviderFault.Kind.ISSUER);
        assertThat(fault(Map.of("clientId", "nobody"))).contains(ProviderFault.Kind.CLIENT);
        assertThat(fault(Map.of("issuer", service.url()))).contains(ProviderFault.Kind.ISSUER);
        provider.close();
        assertThat(fault(Map.of())).contains(ProviderFault.Kind.AWAY);
    }

    private Optional<ProviderFault.Kind> fault(Map<String, String> other) {
        OidcSettings settings = new OidcSettings(
                other.getOrDefault("issuer", provider.issuer()),
                "",
                other.getOrDefault("clientId", TestProvider.CLIENT),
                folder.resolve("secret").toString(),
                "",
                "openid",
                "preferred_username",
                "groups",
                "",
                "",
                Duration.ofSeconds(20),
                Duration.ofDays(30));
        return ProviderFault.of(settings, service.url()).map(ProviderFault::kind);
    }

    private void refused(String why, String told) {
        HttpClient browser = browser();
        Answer page = logIn(browser);
        assertThat(page.uri()).hasPath("/login").hasQuery(why);
        assertThat(page.text()).contains(told);
        assertThat(look(browser, "/sites").uri()).as("no session").hasPath("/login");
    }

    /** Replaces the service by one that no test has used. */
    private void startOther(Map<String, String> more) throws Exception {
        service.close();
        service = registered(RunningService.start(folder.resolve("work"), TestDatabase.fresh(), settings(more)));
    }

    private static RunningService registered(RunningService started) {
        provider.register(started.url());
        return started;
    }

    private static Map<String, String> settings(Map<String, String> more) throws Exception {
        Map<String, String> settings = new HashMap<>(Map.of(
                "dozo.oidc.issuer", provider.issuer(),
                "dozo.oidc.client-id", TestProvider.CLIENT,
                "dozo.oidc.client-secret-file",
                        Files.writeString(folder.resolve("secret"), TestProvider.SECRET + "\n")
                                .toString(),
                "dozo.oidc.label", "Centre",
                "dozo.oidc.timeout", "20s",
                "dozo.oidc.roles", "/Lab Tanaka=LAB_MANAGER;operators=OPERATOR;admins=ADMIN",
                "dozo.oidc.projects", "/lab tanaka=P1,NOT-YET"));
        settings.putAll(more);
        return settings;
    }

    private Answer user(String name) {
        return service.get("/api/v1/users/" + name);
    }

    private Answer with(String secret) {
        return service.with("Bearer " + secret).get("/api/v1/me");
    }

    private void age(String interval) {
        service.jdbc()
                .sql("update dozo_user set confirmed_at = now() - :interval::interval where origin = 'OIDC'")
                .param("interval", interval)
                .update();
    }

    private Answer logIn(HttpClient browser) {
        return get(browser, service.url() + ProviderLogins.START);
    }

    private Answer look(HttpClient browser, String path) {
        return service.look(browser, path, "en");
    }

    private static String session(HttpClient browser) {
        return ((CookieManager) browser.cookieHandler().orElseThrow())
                .getCookieStore().getCookies().stream()
                        .filter(cookie -> cookie.getName().equals(TlsProxy.COOKIE_PLAIN))
                        .map(java.net.HttpCookie::getValue)
                        .findFirst()
                        .orElse("none");
    }

    private static String location(Answer response) {
        return response.headers()
                .firstValue("Location")
                .orElseThrow(() -> new AssertionError(response + ": " + response.text()));
    }

    private static HttpClient browser() {
        return HttpClient.newBuilder()
                .cookieHandler(new CookieManager())
                .followRedirects(Redirect.NORMAL)
                .build();
    }

    /** Returns a browser that follows no redirect. */
    private static HttpClient bare() {
        return HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
    }

    private Answer get(HttpClient browser, String address, String... headers) {
        try {
            return Answer.of(browser.send(
                    HttpRequest.newBuilder(URI.create(address.startsWith("/") ? service.url() + address : address))
                            .headers(Stream.concat(
                                            Stream.of("Accept", "text/html", "Accept-Language", "en"),
                                            Stream.of(headers))
                                    .toArray(String[]::new))
                            .build(),
                    BodyHandlers.ofString()));
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
