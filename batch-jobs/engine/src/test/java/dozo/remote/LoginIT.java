package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.sshd.common.NamedFactory;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.signature.Signature;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.auth.pubkey.UserAuthPublicKey;
import org.apache.sshd.server.auth.pubkey.UserAuthPublicKeyFactory;
import org.apache.sshd.server.session.ServerSession;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A login costs one request if the server accepts the key (ADR 0061), and nothing more fails than before. */
class LoginIT {

    @TempDir
    Path temp;

    /** What each request by public key was: signed or not. */
    private final List<Boolean> signed = new CopyOnWriteArrayList<>();

    @Test
    void theFirstRequestIsSignedAndIsEnough() throws Exception {
        assertThat(logsIn(0)).isTrue();
        assertThat(signed).containsExactly(true);
    }

    @Test
    void aServerThatRefusesTheFirstRequestIsAskedWhetherItAcceptsTheKey() throws Exception {
        assertThat(logsIn(1)).isTrue();
        assertThat(signed).containsExactly(true, false, true);
    }

    /** Whether we can log in at a server that refuses so many requests, whatever they are. */
    private boolean logsIn(int refused) throws Exception {
        try (LoopbackSite keys = LoopbackSite.embedded(temp.resolve("state"), temp.resolve("root"), 0);
                SshServer server = server(refused)) {
            SiteAddress there = keys.address();
            String hostKey = PublicKeyEntry.toString(
                    server.getKeyPairProvider().loadKeys(null).iterator().next().getPublic());
            SiteAddress address = new SiteAddress(
                    there.host(), server.getPort(), there.user(), there.root(), there.identity(), hostKey);
            try (Lanes lanes = Lanes.to(address, 1)) {
                return lanes.next().isOpen();
            }
        }
    }

    private SshServer server(int refused) throws Exception {
        SshServer server = SshServer.setUpDefaultServer();
        server.setHost("127.0.0.1");
        server.setKeyPairProvider(KeyPairProvider.wrap(KeyUtils.generateKeyPair(KeyPairProvider.SSH_ED25519, 256)));
        server.setPublickeyAuthenticator((user, key, session) -> true);
        server.setSubsystemFactories(List.of(new SftpSubsystemFactory()));
        server.setUserAuthFactories(List.of(new UserAuthPublicKeyFactory() {
            @Override
            public UserAuthPublicKey createUserAuth(ServerSession session) throws IOException {
                return new Counted(getSignatureFactories(), refused);
            }
        }));
        server.start();
        return server;
    }

    private final class Counted extends UserAuthPublicKey {

        private final int refused;

        Counted(List<NamedFactory<Signature>> algorithms, int refused) {
            super(algorithms);
            this.refused = refused;
        }

        @Override
        public Boolean doAuth(Buffer request, boolean init) throws Exception {
            signed.add(request.array()[request.rpos()] != 0);
            return signed.size() <= refused ? Boolean.FALSE : super.doAuth(request, init);
        }
    }
}
