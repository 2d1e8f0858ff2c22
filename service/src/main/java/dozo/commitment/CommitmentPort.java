package dozo.commitment;

import dozo.commitment.Association.Limits;
import dozo.db.ActiveService;
import dozo.verify.Images;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.InstantSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Answers Storage Commitment while this service is the active one and a port is set. More than {@value #AT_ONCE_MAX} associations
 * at once are closed unread.
 */
@Component
class CommitmentPort implements AutoCloseable {

    static final int AT_ONCE_MAX = 8;

    private static final Logger LOG = LoggerFactory.getLogger(CommitmentPort.class);

    private final CommitmentSettings settings;
    private final ActiveService active;
    private final Requests requests;
    private final Reports reports;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile Limits limits = Limits.USUAL;
    private @Nullable ServerSocket server;
    private @Nullable Thread reporting;
    private boolean refused;

    CommitmentPort(
            CommitmentSettings settings,
            ActiveService active,
            Commitments commitments,
            Images images,
            InstantSource clock) {
        this.settings = settings;
        this.active = active;
        this.requests = new Requests(commitments);
        this.reports = new Reports(commitments, images, settings, clock);
    }

    /** Sets other limits than usual for associations that begin after this. */
    void limit(Limits others) {
        limits = others;
    }

    /** Opens or closes the port, and looks at what is due on a thread of its own: a caller may take minutes. */
    @Scheduled(initialDelay = 5_000, fixedDelay = 5_000)
    synchronized void look() {
        if (settings.port() == 0) {
            return;
        }
        if (!active.isHere()) {
            close();
            return;
        }
        if (server == null) {
            listen();
        }
        if (reporting == null || !reporting.isAlive()) {
            reporting = Thread.ofPlatform().daemon().name("commitment-reports").start(this::report);
        }
    }

    private void listen() {
        try {
            ServerSocket opened =
                    new ServerSocket(settings.port(), AT_ONCE_MAX, InetAddress.getByName(settings.address()));
            server = opened;
            Thread.ofPlatform().daemon().name("commitment-port").start(() -> listen(opened));
            LOG.info("answers Storage Commitment on port {}", settings.port());
            refused = false;
        } catch (IOException e) {
            if (!refused) {
                LOG.warn("port {} cannot be used for Storage Commitment: {}", settings.port(), e.getMessage());
            }
            refused = true;
        }
    }

    private void listen(ServerSocket opened) {
        while (!opened.isClosed()) {
            try {
                begin(opened.accept());
            } catch (IOException e) {
                LOG.debug("no connection accepted", e);
            }
        }
    }

    private void begin(Socket socket) throws IOException {
        if (open.size() >= AT_ONCE_MAX) {
            LOG.warn("a connection of {} is one too many", socket.getInetAddress());
            socket.close();
            return;
        }
        open.add(socket);
        Thread.ofVirtual().name("association").start(() -> answer(socket));
    }

    private void answer(Socket socket) {
        try (Association association = new Association(socket, limits)) {
            try {
                requests.answer(
                        association,
                        association.accept(settings.aeTitle(), settings.known().keySet()));
            } catch (IOException | RuntimeException e) {
                LOG.info("an association of {} ended: {}", socket.getInetAddress(), e.toString());
                association.abort();
            }
        } catch (IOException e) {
            LOG.debug("a connection was lost", e);
        } finally {
            open.remove(socket);
        }
    }

    private void report() {
        try {
            reports.look();
        } catch (RuntimeException e) {
            LOG.warn("reports of Storage Commitment wait: {}", e.getMessage());
        }
    }

    /** Stops listening, and ends all associations. */
    @Override
    public synchronized void close() {
        try {
            if (server != null) {
                server.close();
                server = null;
            }
            for (Socket each : open) {
                each.close();
            }
        } catch (IOException e) {
            LOG.debug("closed with an error", e);
        }
        if (reporting != null) {
            reporting.interrupt();
        }
    }
}
