package dozo.doctor;

import dozo.security.Trust;
import dozo.start.HttpSettings;
import java.io.IOException;
import java.io.InputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** The address and port of the service, and the proxies in front of it. */
final class HttpCheck {

    private static final String ABOUT = "HTTP";
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);

    private HttpCheck() {}

    static List<Result> look(HttpSettings settings, Installation installation)
            throws IOException, InterruptedException {
        InetAddress address;
        try {
            address = InetAddress.getByName(settings.address());
        } catch (UnknownHostException e) {
            return List.of(foreign(settings.address() + " has no address"));
        }
        if (!address.isAnyLocalAddress() && NetworkInterface.getByInetAddress(address) == null) {
            return List.of(foreign(settings.address() + " is not an address of this machine"));
        }
        List<Result> results = new ArrayList<>();
        results.add(port(address, settings));
        results.addAll(proxy(settings, address.isLoopbackAddress() || settings.isTls()));
        return results;
    }

    /** Returns whether a host is this machine; false if it has no address. */
    static boolean isHere(String host) {
        try {
            InetAddress address = InetAddress.getByName(host);
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (IOException unknown) {
            return false;
        }
    }

    private static Result foreign(String message) {
        return Result.broken(ABOUT, message, "Set DOZO_HTTP_ADDRESS to an address of this machine.");
    }

    private static List<Result> proxy(HttpSettings settings, boolean closed) {
        if (settings.proxies().isEmpty()) {
            return closed
                    ? List.of()
                    : List.of(
                            Result.warning(
                                    ABOUT,
                                    "the service listens at %s without TLS, so passwords can be read in the network"
                                            .formatted(settings.address()),
                                    "Set DOZO_HTTP_TLS_CERTIFICATE_FILE and DOZO_HTTP_TLS_KEY_FILE, or put a TLS proxy in front of it and set DOZO_HTTP_TLS_PROXY."));
        }
        return settings.hostNames().isEmpty()
                ? List.of(Result.warning(
                        ABOUT,
                        "DOZO_HTTP_HOSTS is empty, so requests through the proxy to any name get 421",
                        "Set DOZO_HTTP_HOSTS to the names that browsers use for the service."))
                : List.of();
    }

    private static Result port(InetAddress address, HttpSettings settings) throws InterruptedException {
        int port = settings.port();
        InetSocketAddress there = new InetSocketAddress(address, port);
        try (ServerSocket free = new ServerSocket()) {
            free.setReuseAddress(true);
            free.bind(there);
            return Result.ok(ABOUT, port == 0 ? "any free port" : "port %d is free".formatted(port));
        } catch (BindException e) {
            InetAddress near = address.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : address;
            if (settings.isTls()
                    ? hasCertificate(near, port, Path.of(settings.tlsCertificateFile()))
                    : isDozo(near, port)) {
                return Result.ok(ABOUT, "Dozo listens at port %d".formatted(port));
            }
            return Result.broken(
                    ABOUT,
                    "cannot listen at port %d: %s".formatted(port, e.getMessage()),
                    "Stop the other program, or set DOZO_HTTP_PORT to a free port above 1023.");
        } catch (IOException e) {
            return Result.broken(
                    ABOUT,
                    "cannot listen at port %d: %s".formatted(port, e.getMessage()),
                    "Set another DOZO_HTTP_PORT.");
        }
    }

    /** Returns whether the program at this port has the certificate in this file. Its name is not that of this address. */
    private static boolean hasCertificate(InetAddress address, int port, Path file) {
        try (InputStream pem = Files.newInputStream(file);
                Socket plain = new Socket()) {
            SSLContext context =
                    Trust.in(List.of(CertificateFactory.getInstance("X.509").generateCertificate(pem)));
            plain.connect(new InetSocketAddress(address, port), (int) ANSWER_LIMIT.toMillis());
            plain.setSoTimeout((int) ANSWER_LIMIT.toMillis());
            ((SSLSocket) context.getSocketFactory().createSocket(plain, address.getHostAddress(), port, true))
                    .startHandshake();
            return true;
        } catch (IOException | GeneralSecurityException other) {
            return false;
        }
    }

    /** Returns whether the program at this port asks for a login to Dozo. */
    private static boolean isDozo(InetAddress address, int port) throws InterruptedException {
        String host = address.getHostAddress();
        URI resource =
                URI.create("http://%s:%d/api/v1/service".formatted(host.contains(":") ? "[" + host + "]" : host, port));
        try (HttpClient http =
                HttpClient.newBuilder().connectTimeout(ANSWER_LIMIT).build()) {
            HttpResponse<Void> answer = http.send(
                    HttpRequest.newBuilder(resource).timeout(ANSWER_LIMIT).build(), BodyHandlers.discarding());
            return answer.headers().allValues("WWW-Authenticate").stream()
                    .anyMatch(value -> value.contains("\"Dozo\""));
        } catch (IOException otherProtocol) {
            return false;
        }
    }
}
