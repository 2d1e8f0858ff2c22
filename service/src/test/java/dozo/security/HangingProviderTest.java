package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dozo.RunningService;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import java.io.IOException;
import java.io.OutputStream;
import java.net.CookieManager;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A provider that accepts connections and does not answer, or never ends its answer, holds no request for long. */
@ExtendWith(OutputCaptureExtension.class)
@StartsServices(4)
class HangingProviderTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private static final Duration LONG = Duration.ofMinutes(1);

    /** A turn and an answer may each take the timeout; the rest is for a busy machine. */
    private static final Duration LIMIT = Duration.ofSeconds(50);

    private static final Pattern STATE = Pattern.compile("[?&]state=([^&]+)");

    @TempDir
    Path folder;

    private final CountDownLatch over = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private HttpServer provider;
    private RunningService service;

    /** How the provider handles a request. */
    private enum Answer {
        WHOLE,
        NONE,
        ENDLESS
    }

    private volatile Answer description = Answer.WHOLE;
    private volatile Answer tokens = Answer.WHOLE;

    @BeforeEach
    void start() throws Exception {
        provider = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        provider.setExecutor(threads);
        provider.createContext("/.well-known/openid-configuration", exchange -> answer(exchange, description));
        provider.createContext("/token", exchange -> answer(exchange, tokens));
        provider.start();
    }

    @AfterEach
    void stop() {
        over.countDown();
        service.close();
        provider.stop(0);
        threads.close();
    }

    @Test
    void thePersonIsToldSoAndAPasswordStillWorks(CapturedOutput log) throws Exception {
        service = service(issuer(), TIMEOUT);
        for (Answer hanging : List.of(Answer.NONE, Answer.ENDLESS)) {
            description = hanging;
            CompletableFuture<HttpResponse<String>> begun = get(browser(), ProviderLogins.START);

            assertThat(look("/login").text()).contains("Log in with Centre");
            service.look(service.browser(), "/sites", "en").expect(200);

            assertThat(location(begun)).endsWith("/login?away");
        }
        assertThat(log.getAll()).contains("no complete response within DOZO_OIDC_TIMEOUT");
        assertThat(look("/login?away").text()).contains("The single sign-on does not answer.");
    }

    @Test
    void theExchangeOfTheCodeHasALimitToo() throws Exception {
        service = service(issuer(), TIMEOUT);
        for (Answer hanging : List.of(Answer.NONE, Answer.ENDLESS)) {
            tokens = hanging;
            HttpClient browser = browser();
            Matcher state = STATE.matcher(location(get(browser, ProviderLogins.START)));
            assertThat(state.find()).isTrue();

            CompletableFuture<HttpResponse<String>> answered =
                    get(browser, Provider.CALLBACK + "?code=c&state=" + state.group(1));

            assertThat(location(answered)).endsWith("/login?away");
        }
    }

    @Test
    void manyWhoTryAtOnceHoldFewThreads() throws Exception {
        service = service(issuer(), LONG);
        description = Answer.NONE;
        List<CompletableFuture<HttpResponse<String>>> begun = IntStream.range(0, 300)
                .mapToObj(_ -> get(browser(), ProviderLogins.START))
                .toList();

        Awaitility.await()
                .atMost(LIMIT)
                .until(() -> begun.stream().filter(CompletableFuture::isDone).count() >= 260);
        assertThat(begun).as("some wait for the provider").anyMatch(each -> !each.isDone());
        look("/login").expect(200);
        service.look(service.browser(), "/sites", "en").expect(200);

        over.countDown();
        for (CompletableFuture<HttpResponse<String>> each : begun) {
            assertThat(location(each)).endsWith("/login?away");
        }
        description = Answer.WHOLE;
        assertThat(location(get(browser(), ProviderLogins.START))).contains("/authorize?");
    }

    @Test
    void aHandshakeThatNeverEndsHasALimitToo() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            service = service("https://localhost:" + silent.getLocalPort(), TIMEOUT);

            assertThat(location(get(browser(), ProviderLogins.START))).endsWith("/login?away");
            service.look(service.browser(), "/sites", "en").expect(200);
        }
    }

    private String issuer() {
        return "http://localhost:" + provider.getAddress().getPort();
    }

    private RunningService service(String issuer, Duration timeout) throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "a secret\n");
        return RunningService.start(
                folder.resolve("work"),
                TestDatabase.fresh(),
                Map.of(
                        "dozo.oidc.issuer",
                        issuer,
                        "dozo.oidc.client-id",
                        "dozo",
                        "dozo.oidc.client-secret-file",
                        secret.toString(),
                        "dozo.oidc.label",
                        "Centre",
                        "dozo.oidc.timeout",
                        timeout.toSeconds() + "s"));
    }

    private void answer(HttpExchange exchange, Answer how) throws IOException {
        try (exchange) {
            if (how == Answer.NONE) {
                hang();
                return;
            }
            byte[] body = """
                    {"issuer": "%1$s", "authorization_endpoint": "%1$s/authorize", "token_endpoint": "%1$s/token",
                     "jwks_uri": "%1$s/keys", "subject_types_supported": ["public"], "response_types_supported": ["code"]}
                    """.formatted(issuer()).getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, how == Answer.WHOLE ? body.length : body.length + 1L);
            OutputStream out = exchange.getResponseBody();
            out.write(body);
            out.flush();
            if (how == Answer.ENDLESS) {
                hang();
            }
        }
    }

    private void hang() throws IOException {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /** Returns a browser that follows no redirect. */
    private static HttpClient browser() {
        return HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
    }

    private dozo.Answer look(String path) {
        return service.look(browser(), path, "en");
    }

    private CompletableFuture<HttpResponse<String>> get(HttpClient browser, String path) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return browser.send(
                                HttpRequest.newBuilder(URI.create(service.url() + path))
                                        .header("Accept", "text/html")
                                        .build(),
                                BodyHandlers.ofString());
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new AssertionError(e);
                    }
                },
                threads);
    }

    private static String location(CompletableFuture<HttpResponse<String>> response) throws Exception {
        return response.get(LIMIT.toSeconds(), TimeUnit.SECONDS)
                .headers()
                .firstValue("Location")
                .orElseThrow();
    }
}
