package dozo.message;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A mail server with a few fixed answers, for what a good one does not do. */
final class SmtpScript implements AutoCloseable {

    /** Ends the connection instead of an answer. */
    static final String DROP = "";

    /** Accepts, and resets the connection. */
    static final String RESET = "250 ok, reset";

    private final ServerSocket server;
    private final Map<String, String> answers;
    private final AtomicInteger connections = new AtomicInteger();

    /** @param answers by the first word of a command; {@code .} is the end of a message. All others are 250 */
    SmtpScript(int port, Map<String, String> answers) throws IOException {
        this.server = new ServerSocket(port, 10, InetAddress.getLoopbackAddress());
        this.answers = answers;
        Thread.ofPlatform().daemon().start(this::serve);
    }

    int connections() {
        return connections.get();
    }

    private void serve() {
        while (!server.isClosed()) {
            try (Socket client = server.accept()) {
                connections.incrementAndGet();
                talk(client);
            } catch (IOException e) {
                // The client or this server has ended.
            }
        }
    }

    private void talk(Socket client) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
        say(client, "220 script");
        boolean data = false;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (data && !line.equals(".")) {
                continue;
            }
            String word = line.split("[ :]", 2)[0].toUpperCase(java.util.Locale.ROOT);
            data = word.equals("DATA");
            String answer = answers.getOrDefault(word, data ? "354 go on" : "250 ok");
            if (answer.equals(DROP)) {
                return;
            }
            say(client, answer);
            if (answer.equals(RESET)) {
                client.setSoLinger(true, 0);
                return;
            }
        }
    }

    private static void say(Socket client, String line) throws IOException {
        client.getOutputStream().write((line + "\r\n").getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
