package dozo.start;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports to systemd that the service is ready (sd_notify(3)): a unit of {@code Type=notify} has started then. Does
 * nothing without systemd. NB: Java has no datagrams to local sockets, so this calls the C library.
 */
public final class Readiness {

    private static final Logger LOG = LoggerFactory.getLogger(Readiness.class);

    /** The address of systemd's socket: a path, or an abstract name that begins with @. */
    private static final String SOCKET = "NOTIFY_SOCKET";

    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM_CLOEXEC = 2 | 02000000;
    private static final int PATH_MAX = 107;

    private Readiness() {}

    /** Reports that the service is ready. */
    public static void report() {
        String name = System.getenv(SOCKET);
        if (name == null || !(name.startsWith("/") || name.startsWith("@"))) {
            return;
        }
        try {
            send(name, "READY=1");
        } catch (Throwable e) {
            LOG.warn("cannot report to systemd that the service is ready: {}", e.getMessage());
        }
    }

    private static void send(String name, String message) throws Throwable {
        byte[] path = name.getBytes(StandardCharsets.UTF_8);
        if (path.length > PATH_MAX) {
            throw new IllegalArgumentException(SOCKET + " is longer than %d bytes".formatted(PATH_MAX));
        }
        if (path[0] == '@') {
            path[0] = 0;
        }
        byte[] content = message.getBytes(StandardCharsets.UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(Short.BYTES + PATH_MAX + 1L, Short.BYTES);
            address.set(JAVA_SHORT, 0, (short) AF_UNIX);
            MemorySegment.copy(path, 0, address, ValueLayout.JAVA_BYTE, Short.BYTES, path.length);
            int socket = (int) function("socket", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT))
                    .invokeExact(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
            if (socket < 0) {
                throw new IllegalStateException("no socket");
            }
            // A name in the file system ends with a zero byte, an abstract one by its length.
            int length = Short.BYTES + path.length + (path[0] == 0 ? 0 : 1);
            long sent = (long) function(
                            "sendto",
                            FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT))
                    .invokeExact(
                            socket,
                            arena.allocateFrom(ValueLayout.JAVA_BYTE, content),
                            (long) content.length,
                            0,
                            address,
                            length);
            int _ = (int)
                    function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT)).invokeExact(socket);
            if (sent != content.length) {
                throw new IllegalStateException("nobody receives at " + name);
            }
        }
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name, FunctionDescriptor signature) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), signature);
    }
}
