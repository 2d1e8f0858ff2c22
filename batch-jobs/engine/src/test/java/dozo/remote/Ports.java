package dozo.remote;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports for servers that are started later, or stopped and started again. */
public final class Ports {

    private static final int FIRST = 20_000;

    /** From here on the system assigns ports to outgoing connections, also of other tests. */
    private static final int END = 32_000;

    private static final int TRIES = 1_000;

    private Ports() {}

    /** Returns a port that is free and that nobody is assigned by chance. */
    public static int free() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, END);
            try (ServerSocket _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return port;
            } catch (IOException taken) {
                continue;
            }
        }
        throw new IllegalStateException("no port from %d to %d is free".formatted(FIRST, END));
    }
}
