package dozo.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.unboundid.util.ssl.TrustAllTrustManager;
import dozo.Answer;
import dozo.Application;
import dozo.Ended;
import dozo.RunningService;
import dozo.command.Exit;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.doctor.Doctor;
import dozo.doctor.Installation;
import dozo.doctor.Result;
import dozo.start.CapturedLog;
import dozo.start.Given;
import dozo.start.HttpSettings;
import dozo.start.Settings;
import dozo.start.StartFailure;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** TLS by the service itself: real handshakes, a certificate that is replaced under way, and files that are refused. */
@StartsServices(2)
class OwnTlsTest {

    private static final String HERE = "ip:127.0.0.1";

    /** Of the class, so that all its tests can use one service. */
    @TempDir
    static Path installed;

    private static Path certificate;
    private static Path key;
    private static Path first;

    @TempDir
    Path folder;

    @BeforeAll
    static void makeKeys() throws Exception {
        certificate = installed.resolve("certificate.pem");
        key = installed.resolve("key.pem");
        first = MadeKeys.store(installed.resolve("first"), "EC", HERE, "-1H");
    }

    @BeforeEach
    void install() throws Exception {
        Files.deleteIfExists(certificate);
        Files.deleteIfExists(key);
        install(first, first);
    }

    @Test
    void clientsThatTrustTheCertificateGetPagesAndOthersDoNot() throws Exception {
        try (RunningService service = start();
                HttpClient trusting = client(first);
                HttpClient stranger = HttpClient.newHttpClient()) {
            assertThat(service.url()).startsWith("https://127.0.0.1:");

            Answer login = get(trusting, service, "/login");

            login.expect(200);
            assertThat(login.headers().firstValue("Strict-Transport-Security"))
                    .hasValueSatisfying(value -> assertThat(value).contains("max-age=31536000"));
            assertThat(login.headers().allValues("Set-Cookie"))
                    .isNotEmpty()
                    .allSatisfy(
                            cookie -> assertThat(cookie).startsWith("__Host-").contains("Secure"))
                    .noneMatch(cookie -> cookie.startsWith(TlsProxy.COOKIE_PLAIN));
            assertThat(catchThrowableOfType(IOException.class, () -> get(stranger, service, "/login")))
                    .hasMessageContaining("certification path");
            assertThat(plain(service)).startsWith("HTTP/1.1 400").doesNotContain("Set-Cookie");
        }
    }

    @Test
    void aCommandTrustsTheCertificateInItsFile() throws Exception {
        Path other = MadeKeys.store(folder.resolve("other"), "EC", HERE, "-1H");
        Path elsewhere = MadeKeys.store(folder.resolve("elsewhere"), "EC", "dns:dozo.example.org", "-1H");
        try (RunningService service = start()) {
            Ended trusted = at(service, MadeKeys.certificate(first));
            Ended untrusted = at(service, MadeKeys.certificate(other));
            Ended nothing = at(service, "");
            Ended byDefault = Ended.dozo(service, "status");
            install(elsewhere, elsewhere);
            lookTwice(service);
            Ended wrongName = at(service, MadeKeys.certificate(elsewhere));

            trusted.ends(Exit.NOT_SAFE);
            assertThat(trusted.out()).startsWith("No experiment is registered yet.");
            untrusted.ends(Exit.UNAVAILABLE);
            assertThat(untrusted.err()).contains("no trusted service answers at https://127.0.0.1:", "DOZO_CA_FILE");
            assertThat(byDefault.err()).isEqualTo(untrusted.err());
            nothing.ends(Exit.CONFIGURATION);
            assertThat(nothing.err()).contains("ca.pem\": expected a readable file with certificates in PEM format");
            wrongName.ends(Exit.UNAVAILABLE);
            assertThat(wrongName.err()).contains("127.0.0.1");
        }
    }

    @Test
    void aReplacedCertificateIsUsedWithoutARestart() throws Exception {
        Path second = MadeKeys.store(folder.resolve("second"), "RSA", HERE, "-1H");
        Map<String, String> settings = settings();
        settings.put(RunningService.CLOCK, "on");
        try (RunningService service = RunningService.start(folder.resolve("work"), TestDatabase.fresh(), settings);
                HttpClient before = client(first)) {
            get(before, service, "/login").expect(200);

            install(second, second);

            await().atMost(Duration.ofMinutes(5))
                    .untilAsserted(() -> assertThat(served(service)).isEqualTo(MadeKeys.certificate(second)));
            assertThat(get(before, service, "/login").status())
                    .as("on the connection that was open")
                    .isEqualTo(200);
        }
    }

    @Test
    void aBrokenReplacementIsLoggedOnceAndNotUsed() throws Exception {
        Path second = MadeKeys.store(folder.resolve("second"), "EC", HERE, "-1H");
        Path expired = MadeKeys.store(folder.resolve("expired"), "EC", HERE, "-40d");
        try (RunningService service = start();
                CapturedLog log = new CapturedLog(OwnTls.class.getName())) {
            OwnTls tls = service.bean(OwnTls.class);

            install(second, first);
            tls.look();
            assertThat(said(log)).as("it may be half of a replacement").isEmpty();
            tls.look();
            tls.look();
            assertThat(said(log))
                    .startsWith(
                            "the new TLS certificate is not used, the earlier one stays: DOZO_HTTP_TLS_KEY_FILE names ")
                    .contains("is not the key of the first certificate")
                    .doesNotContain("\n");
            assertThat(served(service)).isEqualTo(MadeKeys.certificate(first));

            log.events().clear();
            install(expired, expired);
            lookTwice(service);
            assertThat(said(log)).contains("DOZO_HTTP_TLS_CERTIFICATE_FILE names ", "expired at ");

            log.events().clear();
            Files.delete(certificate);
            lookTwice(service);
            assertThat(said(log)).contains("which does not exist").doesNotContain("\n");
            assertThat(served(service)).isEqualTo(MadeKeys.certificate(first));

            log.events().clear();
            install(second, second);
            lookTwice(service);
            assertThat(said(log)).startsWith("new connections get the new TLS certificate, valid until ");
            assertThat(served(service)).isEqualTo(MadeKeys.certificate(second));
        }
    }

    @Test
    void aCertificateThatExpiresSoonIsAWarningEveryDay() {
        Instant start = Instant.now();
        AtomicReference<Instant> now = new AtomicReference<>(start);
        OwnTls tls =
                new OwnTls(new HttpSettings("127.0.0.1", 0, certificate.toString(), key.toString(), "", ""), now::get);
        tls.registerBundles(new DefaultSslBundleRegistry());
        try (CapturedLog log = new CapturedLog(OwnTls.class.getName())) {
            tls.look();
            now.set(start.plus(Duration.ofDays(15)));
            tls.look();
            assertThat(said(log)).isEmpty();

            now.set(start.plus(Duration.ofDays(17)));
            tls.look();
            now.set(start.plus(Duration.ofDays(17)).plus(Duration.ofHours(23)));
            tls.look();
            assertThat(said(log)).startsWith("the TLS certificate expires at ").doesNotContain("\n");

            log.events().clear();
            now.set(start.plus(Duration.ofDays(31)));
            tls.look();
            assertThat(said(log)).startsWith("the TLS certificate expired at ").doesNotContain("\n");
        }
    }

    @Test
    void withoutCertificateTheServiceOffersPlainHttp() {
        OwnTls tls = new OwnTls(new HttpSettings("127.0.0.1", 0, "", "", "", ""), Instant::now);
        DefaultSslBundleRegistry bundles = new DefaultSslBundleRegistry();

        tls.registerBundles(bundles);
        tls.look();

        assertThat(bundles.getBundleNames()).isEmpty();
    }

    @Test
    void whatCannotBeUsedIsRefusedAtTheStart() throws Exception {
        Path other = MadeKeys.store(folder.resolve("other"), "RSA", HERE, "-1H");
        Path expired = MadeKeys.store(folder.resolve("expired"), "EC", HERE, "-40d");
        Path future = MadeKeys.store(folder.resolve("future"), "EC", HERE, "+10d");

        install(first, other);
        assertThat(refusal())
                .startsWith("dozo.http.tls-key-file names ")
                .contains("is not the key of the first certificate");
        install(expired, expired);
        assertThat(refusal()).contains("tls-certificate-file").contains("expired at ");
        install(future, future);
        assertThat(refusal()).contains("is not valid before ");
        MadeKeys.write(certificate, MadeKeys.key(first));
        assertThat(refusal()).contains("contains no certificate");
        install(first, first);
        MadeKeys.write(key, MadeKeys.certificate(first));
        assertThat(refusal()).contains("contains no unencrypted private key");
        MadeKeys.write(key, MadeKeys.key(first).replace("PRIVATE", "ENCRYPTED PRIVATE"));
        assertThat(refusal()).contains("contains no unencrypted private key");
        MadeKeys.write(key, "x".repeat((1 << 20) + 1));
        assertThat(refusal()).contains("longer than 1 MiB");
        install(first, first);
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-rw----"));
        assertThat(refusal()).contains("which others can write to");
    }

    private static String refusal() {
        StartFailure failure = StartFailure.of(
                        catchThrowableOfType(RuntimeException.class, () -> Application.start(settings())))
                .orElseThrow();
        assertThat(failure.exitCode()).isEqualTo(StartFailure.CONFIGURATION);
        assertThat(failure.message()).doesNotContain("Exception", "\n", "BEGIN");
        return failure.message();
    }

    private static Map<String, String> settings() {
        return new HashMap<>(Map.of(
                "dozo.http.tls-certificate-file", certificate.toString(), "dozo.http.tls-key-file", key.toString()));
    }

    /** Looks as DoctorTest does, at a port that speaks only TLS. */
    @Test
    void theDoctorKnowsTheServiceByItsCertificate() throws Exception {
        try (RunningService service = start()) {
            int port = URI.create(service.url()).getPort();
            assertThat(examined(port, service.work())).isEqualTo("Dozo listens at port %d".formatted(port));
            install(MadeKeys.store(folder.resolve("other"), "EC", HERE, "-1H"), folder.resolve("other"));
            assertThat(examined(port, service.work())).startsWith("cannot listen at port");
        }
    }

    private static String examined(int port, Path work) {
        StandardEnvironment environment = new StandardEnvironment();
        environment.getPropertySources().remove(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME);
        Map<String, Object> all = new HashMap<>(settings());
        all.put("dozo.work", work.toString());
        all.put("dozo.http.port", String.valueOf(port));
        environment.getPropertySources().addFirst(new MapPropertySource("test", all));
        Given given = new Given(environment, List.of(Settings.class, HttpSettings.class));
        return Doctor.examine(new Installation(given, InstantSource.system(), Duration.ofMinutes(5))).stream()
                .filter(result -> result.about().equals("HTTP"))
                .map(Result::message)
                .findFirst()
                .orElseThrow();
    }

    private static String said(CapturedLog log) {
        return String.join("\n", log.messages());
    }

    private static RunningService start() {
        RunningService service = RunningService.shared(settings());
        // For the certificate, if an earlier test has replaced it.
        lookTwice(service);
        return service;
    }

    private static void install(Path ofCertificate, Path ofKey) throws Exception {
        MadeKeys.write(certificate, MadeKeys.certificate(ofCertificate));
        MadeKeys.write(key, MadeKeys.key(ofKey));
    }

    private static void lookTwice(RunningService service) {
        service.bean(OwnTls.class).look();
        service.bean(OwnTls.class).look();
    }

    private Ended at(RunningService service, String trusted) throws Exception {
        System.setProperty(
                "dozo.ca.file",
                Files.writeString(folder.resolve("ca.pem"), trusted).toString());
        try {
            return Ended.dozo(service, "status");
        } finally {
            System.clearProperty("dozo.ca.file");
        }
    }

    private static Answer get(HttpClient client, RunningService service, String path)
            throws IOException, InterruptedException {
        return Answer.of(client.send(
                HttpRequest.newBuilder(URI.create(service.url() + path)).build(), BodyHandlers.ofString()));
    }

    /** Returns a client that trusts only the certificate of this store. */
    private static HttpClient client(Path store) throws Exception {
        return HttpClient.newBuilder().sslContext(context(store)).build();
    }

    private static SSLContext context(Path store) throws Exception {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        trusted.setCertificateEntry(
                "a",
                KeyStore.getInstance(store.toFile(), MadeKeys.PASSWORD.toCharArray())
                        .getCertificate("a"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    /** Sends a request without TLS to the port, and returns the answer's first line. */
    private static String plain(RunningService service) throws IOException {
        URI address = URI.create(service.url());
        try (Socket socket = new Socket(address.getHost(), address.getPort())) {
            socket.getOutputStream()
                    .write("GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    /** Returns the certificate that a new connection gets, in PEM format. */
    private static String served(RunningService service) throws Exception {
        URI address = URI.create(service.url());
        SSLContext any = SSLContext.getInstance("TLS");
        any.init(null, new TrustManager[] {new TrustAllTrustManager()}, null);
        try (SSLSocket socket = (SSLSocket) any.getSocketFactory().createSocket(address.getHost(), address.getPort())) {
            socket.startHandshake();
            return MadeKeys.certificate(socket.getSession().getPeerCertificates()[0]);
        }
    }
}
