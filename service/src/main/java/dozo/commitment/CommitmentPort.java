package dozo.commitment;

import dozo.alert.Condition;
import dozo.alert.Condition.Kind;
import dozo.alert.Watch;
import dozo.commitment.Association.Limits;
import dozo.db.ActiveService;
import dozo.verify.Images;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
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
class CommitmentPort implements Watch, AutoCloseable {

    static final int AT_ONCE_MAX = 8;

    /** How long the port may be unusable, or no report be made, before it needs a person. */
    static final Duration TROUBLE_MAX = Duration.ofMinutes(15);

    private static final Logger LOG = LoggerFactory.getLogger(CommitmentPort.class);

    private final CommitmentSettings settings;
    private final ActiveService active;
    private final Requests requests;
    private final Reports reports;
    private final Tls tls;
    private final InstantSource clock;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile Limits limits = Limits.USUAL;
    private @Nullable ServerSocket server;
    private @Nullable Thread reporting;
    private volatile Instant refusedAt = Instant.MAX;
    private volatile Instant stoppedAt = Instant.MAX;

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
        this.tls = new Tls(settings, clock);
        this.clock = clock;
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
            refusedAt = Instant.MAX;
        } catch (IOException e) {
            if (refusedAt.equals(Instant.MAX)) {
                LOG.warn("port {} cannot be used for Storage Commitment: {}", settings.port(), e.getMessage());
                refusedAt = clock.instant();
            }
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
        try (socket;
                Association association = new Association(socket, tls.answering(socket), limits)) {
            try {
                requests.answer(
                        association,
                        association.accept(settings.aeTitle(), settings.known().keySet()));
            } catch (IOException | RuntimeException e) {
                LOG.info("an association of {} ended: {}", socket.getInetAddress(), e.toString());
                association.abort();
            }
        } catch (IOException e) {
            LOG.warn("a connection of {} was not answered: {}", socket.getInetAddress(), e.getMessage());
        } finally {
            open.remove(socket);
        }
    }

    private void report() {
        boolean done = false;
        try {
            reports.look();
            done = true;
        } catch (RuntimeException e) {
            LOG.warn("reports of Storage Commitment wait: {}", e.getMessage());
        } finally {
            stoppedAt = done ? Instant.MAX : earlier(stoppedAt, clock.instant());
        }
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    @Override
    public List<Condition> now() {
        return earlier(refusedAt, stoppedAt).isBefore(clock.instant().minus(TROUBLE_MAX))
                ? List.of(new Condition(Kind.COMMITMENT_STOPPED, null, null, 1, ""))
                : List.of();
    }

    /** Stops listening, and ends all associations. */
    @Override
    public synchronized void close() {
        refusedAt = Instant.MAX;
        stoppedAt = Instant.MAX;
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
