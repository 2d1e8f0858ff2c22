package dozo.command;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/** The clients that send the requests of commands. */
final class HttpClients {

    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);

    private HttpClients() {}

    /** Leaves out the preparation for TLS, which reads all of Java's certificates: longer than most commands take. */
    static HttpClient plain() {
        return endedAtExit(
                builder().sslContext(new SSLContext(null, null, null) {}).sslParameters(new SSLParameters()));
    }

    /**
     * Returns a client for TLS.
     *
     * @param authorities a file with the certificates that are trusted instead of Java's
     * @throws Failure if it has none
     */
    static HttpClient https(Optional<String> authorities) {
        return endedAtExit(
                authorities.map(file -> builder().sslContext(trusting(file))).orElseGet(HttpClients::builder));
    }

    private static HttpClient.Builder builder() {
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT_LIMIT);
    }

    private static SSLContext trusting(String file) {
        try (InputStream in = Files.newInputStream(Path.of(file))) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (Certificate certificate :
                    CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                store.setCertificateEntry("ca" + store.size(), certificate);
            }
            if (store.size() > 0) {
                TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
                trust.init(store);
                SSLContext context = SSLContext.getInstance("TLS");
                context.init(null, trust.getTrustManagers(), null);
                return context;
            }
        } catch (IOException | GeneralSecurityException | InvalidPathException e) {
            // Reported below.
        }
        throw new Failure(
                Exit.CONFIGURATION,
                "DOZO_CA_FILE is \"%s\": expected a readable file with certificates in PEM format".formatted(file));
    }

    /** Java's exit waits up to 0.3 s for a thread that is in a system call, as the client's is when it has no work. */
    private static HttpClient endedAtExit(HttpClient.Builder builder) {
        HttpClient client = builder.build();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            client.shutdownNow();
            try {
                client.awaitTermination(CONNECT_LIMIT);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        return client;
    }
}
