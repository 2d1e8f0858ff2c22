package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.PageAssertions;
import com.microsoft.playwright.options.AriaRole;
import dozo.Answer;
import dozo.RunningService;
import dozo.db.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A login through a real Keycloak, with the realm that the documentation describes. */
class KeycloakIT {

    private static final String SECRET = "the client's secret";
    private static final String PASSWORD = "a password at Keycloak";
    private static final double PATIENCE = Duration.ofMinutes(1).toMillis();

    @TempDir
    Path folder;

    private KeycloakServer keycloak;
    private RunningService service;

    @BeforeEach
    void start() throws Exception {
        keycloak = new KeycloakServer();
        service = RunningService.start(
                folder.resolve("work"),
                TestDatabase.fresh(),
                Map.of(
                        "dozo.oidc.issuer", keycloak.issuer(),
                        "dozo.oidc.client-id", "dozo",
                        "dozo.oidc.client-secret-file",
                                Files.writeString(folder.resolve("secret"), SECRET)
                                        .toString(),
                        "dozo.oidc.label", "Keycloak",
                        "dozo.oidc.timeout", "1m",
                        "dozo.oidc.roles", "/operators=OPERATOR;/Lab Tanaka=LAB_MANAGER",
                        "dozo.oidc.projects", "/Lab Tanaka=P1"));
        service.createProject("P1");
        keycloak.start(folder, realm());
    }

    @AfterEach
    void stop() throws Exception {
        service.close();
        keycloak.close();
    }

    @Test
    void groupsOfTheRealmGiveRolesAndTheLogoutEndsTheSessionThere() {
        try (BrowserContext context = Chromium.browser().newContext(new NewContextOptions().setLocale("en"))) {
            context.setDefaultTimeout(PATIENCE);
            Page page = context.newPage();

            logIn(page, "/sites", "sato");
            assertThat(page).hasURL(Pattern.compile("http://127[.]0[.]0[.]1:.*/sites([?]continue)?"), patiently());
            user("sato").has("/origin", "OIDC");
            assertThat(user("sato").at("/roles").toString()).isEqualTo("[\"OPERATOR\"]");

            page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Log out"))
                    .click();
            assertThat(page).hasURL(service.url() + "/login?logout", patiently());

            // NB: only without a session there does Keycloak ask for a password again.
            logIn(page, "/experiments", "tanaka");
            assertThat(page)
                    .hasURL(Pattern.compile("http://127[.]0[.]0[.]1:.*/experiments([?]continue)?"), patiently());
            assertThat(user("tanaka").at("/roles").toString()).isEqualTo("[\"LAB_MANAGER\"]");
            assertThat(user("tanaka").at("/projects").toString()).isEqualTo("[\"P1\"]");
        }
    }

    private void logIn(Page page, String wanted, String name) {
        page.navigate(service.url() + wanted);
        page.getByText("Log in with Keycloak").click();
        page.locator("#username").fill(name);
        page.locator("#password").fill(PASSWORD);
        page.locator("#kc-login").click();
    }

    private Answer user(String name) {
        return service.get("/api/v1/users/" + name);
    }

    private static PageAssertions.HasURLOptions patiently() {
        return new PageAssertions.HasURLOptions().setTimeout(PATIENCE);
    }

    private String realm() {
        return """
                {
                  "realm": "dozo", "enabled": true, "sslRequired": "none",
                  "groups": [{"name": "operators"}, {"name": "Lab Tanaka"}],
                  "users": [
                    {"username": "sato", "enabled": true, "email": "sato@example.org", "firstName": "S", "lastName": "Sato",
                     "groups": ["/operators"], "credentials": [{"type": "password", "value": "%2$s"}]},
                    {"username": "tanaka", "enabled": true, "email": "tanaka@example.org", "firstName": "T", "lastName": "Tanaka",
                     "groups": ["/Lab Tanaka"], "credentials": [{"type": "password", "value": "%2$s"}]}
                  ],
                  "clients": [{
                    "clientId": "dozo", "secret": "%3$s", "publicClient": false, "standardFlowEnabled": true,
                    "directAccessGrantsEnabled": false, "redirectUris": ["%1$s/login/oauth2/code/dozo"],
                    "attributes": {"pkce.code.challenge.method": "S256", "post.logout.redirect.uris": "%1$s/login?logout"},
                    "protocolMappers": [{
                      "name": "groups", "protocol": "openid-connect", "protocolMapper": "oidc-group-membership-mapper",
                      "config": {"claim.name": "groups", "full.path": "true", "id.token.claim": "true"}
                    }]
                  }]
                }
                """.formatted(service.url(), PASSWORD, SECRET);
    }
}
