package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.RemoteException.Reason;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.server.Environment;
import org.apache.sshd.server.ExitCallback;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.command.Command;
import org.apache.sshd.server.subsystem.SubsystemFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A hostile server is detected: the reason is PROTOCOL, the lane is closed, and none of its answers is used. */
@Timeout(300)
class HostileSiteTest {

    private static final FilePath FILE = FilePath.of("file");

    @TempDir
    Path temp;

    /** Answers the first request after the greeting. */
    @FunctionalInterface
    private interface Answer {
        void to(int id, DataOutputStream out) throws IOException;
    }

    @Test
    void anAnswerToAnotherRequest() throws Exception {
        assertThat(reason((id, out) -> status(out, id + 7), sftp -> sftp.lstat(FILE)))
                .isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void anAnswerLargerThanAnyShouldBe() throws Exception {
        assertThat(reason((id, out) -> out.writeInt(1 << 30), sftp -> sftp.lstat(FILE)))
                .isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void anAnswerShorterThanItSays() throws Exception {
        Answer shortHandle = (id, out) -> {
            out.writeInt(9);
            out.writeByte(Packet.HANDLE);
            out.writeInt(id);
            out.writeInt(1000);
        };
        assertThat(reason(shortHandle, sftp -> sftp.create(FILE))).isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void anAnswerOfAnotherKind() throws Exception {
        Answer handle = (id, out) -> handle(out, id, 4);
        assertThat(reason(handle, sftp -> sftp.lstat(FILE))).isEqualTo(Reason.PROTOCOL);
        assertThat(reason(handle, sftp -> {
                    sftp.remove(FILE);
                    return sftp;
                }))
                .isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void aHandleLargerThanTheProtocolAllows() throws Exception {
        assertThat(reason((id, out) -> handle(out, id, 257), sftp -> sftp.create(FILE)))
                .isEqualTo(Reason.PROTOCOL);
    }

    @Test
    void aNameThatLeadsOutOfItsFolder() throws Exception {
        boolean[] listing = new boolean[1];
        Answer names = (id, out) -> {
            if (!listing[0]) {
                listing[0] = true;
                handle(out, id, 4);
                return;
            }
            byte[] name = "../../etc/passwd".getBytes("US-ASCII");
            out.writeInt(1 + 4 + 4 + 4 + name.length + 4 + 4);
            out.writeByte(Packet.NAME);
            out.writeInt(id);
            out.writeInt(1);
            out.writeInt(name.length);
            out.write(name);
            out.writeInt(0);
            out.writeInt(0);
        };
        assertThat(reason(names, sftp -> {
                    sftp.list(FilePath.ROOT, (path, facts) -> {
                        throw new AssertionError("took " + path);
                    });
                    return sftp;
                }))
                .isEqualTo(Reason.PROTOCOL);
    }

    @FunctionalInterface
    private interface Deed {
        Object on(Sftp sftp) throws Exception;
    }

    private Reason reason(Answer answer, Deed deed) throws Exception {
        try (LoopbackSite keys = LoopbackSite.embedded(temp.resolve("state"), temp.resolve("root"), 0);
                SshServer hostile = hostile(answer)) {
            SiteAddress honest = keys.address();
            String hostKey = PublicKeyEntry.toString(hostile.getKeyPairProvider()
                    .loadKeys(null)
                    .iterator()
                    .next()
                    .getPublic());
            SiteAddress address = new SiteAddress(
                    honest.host(), hostile.getPort(), honest.user(), honest.root(), honest.identity(), hostKey);
            try (Lanes lanes = Lanes.to(address, 1)) {
                Lane lane = lanes.next();
                Callable<?> call = () -> deed.on(lane.sftp());
                try {
                    call.call();
                } catch (RemoteException e) {
                    assertThat(lane.isOpen()).isFalse();
                    return e.reason();
                }
                throw new AssertionError("believed");
            }
        }
    }

    private static SshServer hostile(Answer answer) throws Exception {
        SshServer server = SshServer.setUpDefaultServer();
        server.setHost("127.0.0.1");
        server.setKeyPairProvider(
                KeyPairProvider.wrap(org.apache.sshd.common.config.keys.KeyUtils.generateKeyPair("ssh-ed25519", 256)));
        server.setPublickeyAuthenticator((user, key, session) -> true);
        server.setSubsystemFactories(List.of(new SubsystemFactory() {
            @Override
            public String getName() {
                return "sftp";
            }

            @Override
            public Command createSubsystem(ChannelSession channel) {
                return new Liar(answer);
            }
        }));
        server.start();
        return server;
    }

    private static void status(DataOutputStream out, int id) throws IOException {
        out.writeInt(17);
        out.writeByte(Packet.STATUS);
        out.writeInt(id);
        out.writeInt(2);
        out.writeInt(0);
        out.writeInt(0);
    }

    private static void handle(DataOutputStream out, int id, int bytes) throws IOException {
        out.writeInt(9 + bytes);
        out.writeByte(Packet.HANDLE);
        out.writeInt(id);
        out.writeInt(bytes);
        out.write(new byte[bytes]);
    }

    /** Announces version 3 and then gives the planned answer. */
    private static final class Liar implements Command {

        private final Answer answer;
        private InputStream in = InputStream.nullInputStream();
        private OutputStream out = OutputStream.nullOutputStream();

        Liar(Answer answer) {
            this.answer = answer;
        }

        @Override
        public void setInputStream(InputStream in) {
            this.in = in;
        }

        @Override
        public void setOutputStream(OutputStream out) {
            this.out = out;
        }

        @Override
        public void setErrorStream(OutputStream err) {}

        @Override
        public void setExitCallback(ExitCallback callback) {}

        @Override
        public void start(ChannelSession channel, Environment environment) {
            Thread.ofVirtual().start(() -> {
                try (DataInputStream requests = new DataInputStream(in);
                        DataOutputStream answers = new DataOutputStream(out)) {
                    requests.skipNBytes(requests.readInt());
                    answers.writeInt(5);
                    answers.writeByte(Packet.VERSION);
                    answers.writeInt(3);
                    answers.flush();
                    while (true) {
                        int length = requests.readInt();
                        requests.readByte();
                        int id = requests.readInt();
                        requests.skipNBytes(length - 5);
                        answer.to(id, answers);
                        answers.flush();
                    }
                } catch (IOException gone) {
                    // The client has closed the connection.
                }
            });
        }

        @Override
        public void destroy(ChannelSession channel) {}
    }
}
