package dozo.doctor;

import dozo.broker.BrokerSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/** The message broker: whether it answers in its protocol. The user is not checked; the logs of the service and of workers are. */
final class BrokerCheck {

    private static final String ABOUT = "broker";
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);
    private static final int PORT = 5672;
    private static final int TLS_PORT = 5671;

    /** What a client sends first, and the type of the frame that a server answers with (AMQP 0-9-1, 4.2). */
    private static final byte[] HEADER = "AMQP\0\0\11\1".getBytes(StandardCharsets.US_ASCII);

    private static final int METHOD_FRAME = 1;

    private BrokerCheck() {}

    static List<Result> look(BrokerSettings settings, Installation installation) {
        String url = settings.url();
        if (url.isEmpty()) {
            return List.of();
        }
        List<Result> results = new ArrayList<>(List.of(answer(url)));
        if (url.startsWith("amqp:") && !HttpCheck.isHere(URI.create(url).getHost())) {
            results.add(Result.warning(
                    ABOUT,
                    "%s is not encrypted, so a machine between could read the password".formatted(url),
                    "Enable TLS in RabbitMQ, and set DOZO_BROKER_URL to amqps://…"));
        }
        return results;
    }

    private static Result answer(String url) {
        String wrong = "";
        try {
            if (speaksAmqp(URI.create(url))) {
                return Result.ok(ABOUT, "%s answers".formatted(url));
            }
            wrong = "it is no AMQP 0-9-1 server";
        } catch (IOException e) {
            wrong = String.valueOf(e.getMessage());
        }
        return Result.broken(
                ABOUT,
                "%s cannot be used, so workers begin up to 15 s late: %s".formatted(url, wrong),
                "Start RabbitMQ there, open its port to this machine, or correct DOZO_BROKER_URL.");
    }

    private static boolean speaksAmqp(URI url) throws IOException {
        boolean tls = "amqps".equals(url.getScheme());
        int port = url.getPort() > 0 ? url.getPort() : tls ? TLS_PORT : PORT;
        try (Socket plain = new Socket()) {
            plain.connect(new InetSocketAddress(url.getHost(), port), (int) ANSWER_LIMIT.toMillis());
            plain.setSoTimeout((int) ANSWER_LIMIT.toMillis());
            Socket socket = tls ? secured(plain, url.getHost(), port) : plain;
            socket.getOutputStream().write(HEADER);
            socket.getOutputStream().flush();
            return socket.getInputStream().read() == METHOD_FRAME;
        }
    }

    private static Socket secured(Socket plain, String host, int port) throws IOException {
        SSLSocket socket =
                (SSLSocket) ((SSLSocketFactory) SSLSocketFactory.getDefault()).createSocket(plain, host, port, true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        return socket;
    }
}
