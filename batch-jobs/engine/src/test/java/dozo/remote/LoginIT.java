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

    @Test
    void whatIsRecordedOnItsWayStaysSecretWhereTheServerCanDoThat() throws Exception {
        try (LoopbackSite ours = LoopbackSite.embedded(temp.resolve("ours"), temp.resolve("one"), 0)) {
            assertAgreesTo("mlkem768x25519-sha256", true, ours);
        }
        for (String exchange : List.of("sntrup761x25519-sha512", "sntrup761x25519-sha512@openssh.com")) {
            try (LoopbackSite since85 =
                    LoopbackSite.openSsh(temp.resolve("8.5"), temp.resolve("two"), 0, "KexAlgorithms " + exchange)) {
                assertAgreesTo(exchange, true, since85);
            }
        }
        try (LoopbackSite since65 = LoopbackSite.openSsh(
                temp.resolve("6.5"), temp.resolve("three"), 0, "KexAlgorithms curve25519-sha256")) {
            assertAgreesTo("curve25519-sha256", false, since65);
        }
    }

    private static void assertAgreesTo(String exchange, boolean safe, LoopbackSite site) throws Exception {
        try (Lanes lanes = Lanes.to(site.address(), 1)) {
            SiteCheck check = SiteCheck.of(lanes.next());
            assertThat(check.keyExchange()).isEqualTo(exchange);
            assertThat(check.safeAgainstLaterDecryption()).isEqualTo(safe);
        }
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
