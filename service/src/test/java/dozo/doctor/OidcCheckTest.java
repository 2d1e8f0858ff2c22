package dozo.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.doctor.Result.State;
import dozo.security.MadeKeys;
import dozo.security.OidcSettings;
import dozo.security.TestProvider;
import dozo.start.Given;
import dozo.start.Settings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** What the doctor says about single sign-on, of a provider in this process. */
class OidcCheckTest {

    private static final String URL = "https://dozo.example.org";

    @TempDir
    Path folder;

    @Test
    void aProviderThatCannotBeUsedIsFound() throws Exception {
        assertThat(OidcCheck.look(installation(Map.of())))
                .as("none is configured")
                .isEmpty();
        Path store = MadeKeys.store(folder.resolve("keys.p12"), "EC", "dns:localhost", "-1H");
        Path certificate = Files.writeString(folder.resolve("ca.pem"), MadeKeys.certificate(store));
        try (TestProvider provider = TestProvider.at(folder, store)) {
            provider.register(URL);
            Map<String, String> settings = Map.of(
                    "dozo.oidc.issuer", provider.issuer(),
                    "dozo.oidc.client-id", TestProvider.CLIENT,
                    "dozo.oidc.client-secret-file",
                            Files.writeString(folder.resolve("secret"), TestProvider.SECRET + "\n")
                                    .toString(),
                    "dozo.oidc.ca-file", certificate.toString(),
                    "dozo.service.url", URL);
            assertFound(look(settings), State.BROKEN, "so its users cannot log in", "Start the provider");

            provider.start();

            assertFound(look(settings), State.OK, "accepts the client " + TestProvider.CLIENT, "");
            assertFound(
                    look(settings, Map.of("dozo.service.url", "")),
                    State.HINT,
                    "depends on the address in the browser",
                    "DOZO_SERVICE_URL");
            assertFound(
                    look(settings, Map.of("dozo.oidc.ca-file", "")), State.BROKEN, "PKIX path", "DOZO_OIDC_CA_FILE");
            assertFound(
                    look(settings, Map.of("dozo.oidc.issuer", provider.issuer() + "/other")),
                    State.BROKEN,
                    "it answers HTTP 40",
                    "Set DOZO_OIDC_ISSUER");
            assertFound(
                    look(settings, Map.of("dozo.oidc.client-id", "nobody")),
                    State.BROKEN,
                    "it refuses the client nobody",
                    "DOZO_OIDC_CLIENT_ID");
            Files.writeString(folder.resolve("secret"), "another\n");
            assertFound(look(settings), State.BROKEN, "or its secret", "DOZO_OIDC_CLIENT_SECRET_FILE");
        }
    }

    private Result look(Map<String, String> settings) {
        return OidcCheck.look(installation(settings)).getFirst();
    }

    private Result look(Map<String, String> settings, Map<String, String> more) {
        Map<String, String> all = new HashMap<>(settings);
        all.putAll(more);
        return look(all);
    }

    private Installation installation(Map<String, String> settings) {
        StandardEnvironment environment = new StandardEnvironment();
        Map<String, Object> all = new HashMap<>(settings);
        all.put("dozo.work", folder.toString());
        environment.getPropertySources().addFirst(new MapPropertySource("test", all));
        return new Installation(
                new Given(environment, List.of(Settings.class, OidcSettings.class)),
                InstantSource.system(),
                Duration.ofSeconds(60));
    }

    private static void assertFound(Result result, State state, String message, String cure) {
        assertThat(result.state()).as(result.message()).isEqualTo(state);
        assertThat(result.message()).contains(message);
        assertThat(result.cure()).contains(cure);
    }
}
