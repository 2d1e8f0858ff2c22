package dozo.loopback;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports of the loopback address for servers that are started later, or stopped and started again. */
public final class Ports {

    private static final int FIRST = 20_000;

    /** From here on the system assigns ports to connections: another program could have one before the server is up. */
    private static final int END = 32_000;

    private static final int TRIES = 1_000;

    private Ports() {}

    /**
     * Returns a port that is free, and that the system assigns to no connection.
     *
     * @throws IllegalStateException if there is none
     */
    public static int free() {
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, END);
            if (isFree(port)) {
                return port;
            }
        }
        throw new IllegalStateException("no port from %d to %d is free".formatted(FIRST, END));
    }

    private static boolean isFree(int port) {
        try (ServerSocket _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return true;
        } catch (IOException taken) {
            return false;
        }
    }
}
