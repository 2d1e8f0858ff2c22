package dozo.remote;

import java.io.IOException;
import org.apache.sshd.client.session.AbstractClientSession;
import org.apache.sshd.client.session.ClientConnectionService;
import org.apache.sshd.client.session.ClientConnectionServiceFactory;
import org.apache.sshd.common.Service;
import org.apache.sshd.common.SshException;
import org.apache.sshd.common.session.Session;

/**
 * A connection whose heartbeats are never closer together than half of their interval. MINA's own makes up for those that
 * a process has missed while it was stopped, all at once: before an answer can come, it takes the link for dead.
 */
final class Heartbeat extends ClientConnectionService {

    static final ClientConnectionServiceFactory FACTORY = new ClientConnectionServiceFactory() {
        @Override
        public Service create(Session session) throws IOException {
            return new Heartbeat((AbstractClientSession) session);
        }
    };

    private long earliestNanos = System.nanoTime();

    private Heartbeat(AbstractClientSession session) throws SshException {
        super(session);
    }

    @Override
    protected synchronized boolean sendHeartBeat() {
        long now = System.nanoTime();
        if (now - earliestNanos < 0) {
            return false;
        }
        earliestNanos = now + heartbeatInterval.toNanos() / 2;
        return super.sendHeartBeat();
    }
}
