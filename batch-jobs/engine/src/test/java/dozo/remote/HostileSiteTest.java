package dozo.remote;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.RemoteException.Reason;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.signature.BuiltinSignatures;
import org.apache.sshd.server.Environment;
import org.apache.sshd.server.ExitCallback;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.channel.ChannelSession;
import org.apache.sshd.server.command.Command;
import org.apache.sshd.server.subsystem.SubsystemFactory;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A hostile server is detected: the reason is PROTOCOL, the lane is closed, and none of its answers is used. One that
 * does not answer gets no endless content.
 */
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

    /** Answers every request after the greeting, or does not. */
    @FunctionalInterface
    private interface Script {
        void on(int type, int id, int bytes, DataOutputStream out) throws IOException;
    }

    @Test
    void anAnswerToAnotherRequest() throws Exception {
        assertThat(reason((id, out) -> status(out, id + 7, 2), sftp -> sftp.lstat(FILE)))
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

    /** OpenSSH's server copies everything that waits for its answers again and again (ADR 0063). */
    @Test
    void aServerThatAcknowledgesNoWriteGetsOnlyAsMuchAsItCanHold() throws Exception {
        byte[] content = new byte[8 << 20];
        Held held = new Held();
        try (LoopbackSite keys = LoopbackSite.embedded(temp.resolve("state"), temp.resolve("root"), 0);
                SshServer server = server(held);
                Lanes lanes = Lanes.to(address(keys, server), 1)) {
            RemoteFile file = lanes.next().sftp().create(FILE);
            Thread writer = Thread.ofPlatform().start(() -> {
                try {
                    file.write(0, content, 0, content.length);
                } catch (RemoteException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });

            Awaitility.await()
                    .atMost(Duration.ofMinutes(5))
                    .until(() -> held.content() > 0 && writer.getState() == Thread.State.WAITING);
            // What it has let go already may still be on its way.
            Awaitility.await().during(Duration.ofMillis(300)).until(held::content, Predicate.isEqual(held.content()));

            assertThat(held.content())
                    .isGreaterThan(Pipeline.UNANSWERED_BYTES_NEAR / 2)
                    .isLessThan(2 * Pipeline.UNANSWERED_BYTES_NEAR);

            held.answer();
            writer.join();
            file.finish(false);
            assertThat(held.content()).isGreaterThanOrEqualTo(content.length);
        }
    }

    @Test
    void aServerWithNoHostKeyOfAnAcceptedTypeSaysSo() throws Exception {
        try (LoopbackSite keys = LoopbackSite.embedded(temp.resolve("state"), temp.resolve("root"), 0);
                SshServer server = server((type, id, bytes, out) -> status(out, id, 2));
                Lanes lanes = Lanes.to(address(keys, server), 1)) {
            server.setKeyPairProvider(KeyPairProvider.wrap(
                    org.apache.sshd.common.config.keys.KeyUtils.generateKeyPair(KeyPairProvider.SSH_RSA, 2048)));
            server.setSignatureFactories(List.of(BuiltinSignatures.rsa));

            assertThatThrownBy(lanes::next)
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL))
                    .hasMessageContaining("offers no accepted host key type: expected one of ssh-ed25519,")
                    .hasMessageEndingWith(", found ssh-rsa");
        }
    }

    /** The first answer gives the limits. */
    @Test
    void oneSlowFirstAnswerDoesNotMakeASiteTooFarForArchives() throws Exception {
        Script slowFirst = (type, id, bytes, out) -> {
            if ((type & 0xFF) == Packet.EXTENDED) {
                new CompletableFuture<>()
                        .completeOnTimeout(true, 200, TimeUnit.MILLISECONDS)
                        .join();
                out.writeInt(1 + 4 + 4 * 8);
                out.writeByte(Packet.EXTENDED_REPLY);
                out.writeInt(id);
                out.write(new byte[4 * 8]);
            } else {
                status(out, id, 2);
            }
        };
        try (LoopbackSite keys = LoopbackSite.embedded(temp.resolve("state"), temp.resolve("root"), 0);
                SshServer server = server(slowFirst, "limits@openssh.com");
                Lanes lanes = Lanes.to(address(keys, server), 1)) {
            Lane lane = lanes.next();
            assertThat(lane.sftp().lstat(FILE)).isEmpty();

            assertThat(TarFeed.pays(lane)).isTrue();
        }
    }

    /** A server that does not answer writes until it is told to. */
    private static final class Held implements Script {

        private final List<Integer> unanswered = new ArrayList<>();
        private long content;
        private @Nullable DataOutputStream out;
        private boolean answers;

        @Override
        public synchronized void on(int type, int id, int bytes, DataOutputStream to) throws IOException {
            out = to;
            if (type == Packet.WRITE) {
                content += bytes;
                if (!answers) {
                    unanswered.add(id);
                    return;
                }
            }
            if (type == Packet.OPEN) {
                handle(to, id, 4);
            } else {
                status(to, id, Reply.OK);
            }
        }

        synchronized long content() {
            return content;
        }

        synchronized void answer() throws IOException {
            answers = true;
            for (int id : unanswered) {
                status(requireNonNull(out), id, Reply.OK);
            }
            requireNonNull(out).flush();
        }
    }

    @FunctionalInterface
    private interface Deed {
        Object on(Sftp sftp) throws Exception;
    }

    private Reason reason(Answer answer, Deed deed) throws Exception {
        try (LoopbackSite keys = LoopbackSite.embedded(temp.resolve("state"), temp.resolve("root"), 0);
                SshServer hostile = server((type, id, bytes, out) -> answer.to(id, out));
                Lanes lanes = Lanes.to(address(keys, hostile), 1)) {
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

    private static SiteAddress address(LoopbackSite keys, SshServer server) throws Exception {
        SiteAddress honest = keys.address();
        String hostKey = PublicKeyEntry.toString(
                server.getKeyPairProvider().loadKeys(null).iterator().next().getPublic());
        return new SiteAddress(
                honest.host(), server.getPort(), honest.user(), honest.root(), honest.identity(), hostKey);
    }

    private static SshServer server(Script script, String... extensions) throws Exception {
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
                return new Scripted(script, extensions);
            }
        }));
        server.start();
        return server;
    }

    private static void status(DataOutputStream out, int id, int code) throws IOException {
        out.writeInt(17);
        out.writeByte(Packet.STATUS);
        out.writeInt(id);
        out.writeInt(code);
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

    /** Announces version 3 and then answers by the script. */
    private static final class Scripted implements Command {

        private final Script script;
        private final String[] extensions;
        private InputStream in = InputStream.nullInputStream();
        private OutputStream out = OutputStream.nullOutputStream();

        Scripted(Script script, String... extensions) {
            this.script = script;
            this.extensions = extensions;
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
                    int names = Arrays.stream(extensions)
                            .mapToInt(name -> 4 + name.length() + 4)
                            .sum();
                    answers.writeInt(5 + names);
                    answers.writeByte(Packet.VERSION);
                    answers.writeInt(3);
                    for (String name : extensions) {
                        answers.writeInt(name.length());
                        answers.writeBytes(name);
                        answers.writeInt(0);
                    }
                    answers.flush();
                    while (true) {
                        int length = requests.readInt();
                        int type = requests.readByte();
                        int id = requests.readInt();
                        requests.skipNBytes(length - 5);
                        script.on(type, id, length, answers);
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
