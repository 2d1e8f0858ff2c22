package dozo.remote;

import java.io.IOException;
import java.time.Duration;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.util.buffer.Buffer;

/**
 * Asks a site's SSH server itself for an answer. It comes behind the data that is on its way, but waits for nothing that
 * the server passes on: SFTP and commands.
 */
final class ServerEcho {

    /** A request that every SSH server answers, as OpenSSH sends it to see whether its peer is there. */
    private static final String KEEPALIVE = "keepalive@openssh.com";

    /** A server that has not answered for so long does not know the request. */
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final ClientSession session;
    private volatile long askedNanos;
    private volatile long answeredNanos;
    private volatile boolean mute;

    ServerEcho(ClientSession session) {
        this.session = session;
    }

    /** Asks, unless an answer is due. Called by one thread. */
    void ask(String host) {
        if (askedNanos == 0 && !mute) {
            askedNanos = System.nanoTime();
            Thread.ofVirtual().name("ask " + host).start(this::await);
        }
    }

    private void await() {
        try {
            Buffer request = session.createBuffer(SshConstants.SSH_MSG_GLOBAL_REQUEST);
            request.putString(KEEPALIVE);
            request.putBoolean(true);
            // A refusal is an answer too (RFC 4254, section 4).
            var _ = session.request(KEEPALIVE, request, TIMEOUT);
            answeredNanos = System.nanoTime() - askedNanos;
        } catch (IOException | RuntimeException e) {
            mute = true;
            answeredNanos = 0;
        }
        askedNanos = 0;
    }

    /** Returns how long the latest answer took, or how long the next one has been due; 0: unknown. */
    long nanos() {
        long asked = askedNanos;
        return mute ? 0 : Math.max(answeredNanos, asked == 0 ? 0 : System.nanoTime() - asked);
    }
}
