package dozo.db;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * The port of an embedded server. Not one that the system may give to a connection, by default those from 32,768 on: between the choice
 * and the start, and while a server that ended is started again, a connection of any program could take it.
 */
final class ServerPort {

    private static final int FIRST = 20_000;
    private static final int END = 32_768;
    private static final int TRIES = 100;

    private ServerPort() {}

    /** Returns a port of loopback that nobody listens at now. */
    static int choose() throws IOException {
        return IntStream.generate(() -> ThreadLocalRandom.current().nextInt(FIRST, END))
                .limit(TRIES)
                .filter(ServerPort::isFree)
                .findFirst()
                .orElseThrow(() -> new IOException(
                        "found no free port from %d to %d in %d tries".formatted(FIRST, END - 1, TRIES)));
    }

    private static boolean isFree(int port) {
        try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return free.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
