package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.Ended;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.auth.UserAuthFactory;
import org.apache.sshd.server.auth.keyboard.UserAuthKeyboardInteractiveFactory;
import org.apache.sshd.server.auth.password.UserAuthPasswordFactory;
import org.apache.sshd.server.auth.pubkey.UserAuthPublicKeyFactory;
import org.apache.sshd.server.forward.AcceptAllForwardingFilter;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Logs in with a password. NB: OpenSSH checks only those of this machine's accounts, so the server is MINA's.
 */
class CopyPasswordIT {

    private static final String PASSWORD = "a password of a test";

    @TempDir
    Path folder;

    @AutoClose
    private final SshServer server = SshServer.setUpDefaultServer();

    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger logins = new AtomicInteger();
    private Path file;

    @BeforeEach
    void start() throws Exception {
        folder = folder.toRealPath();
        file = Files.writeString(folder.resolve("file"), "content");
        server.setHost("127.0.0.1");
        server.setKeyPairProvider(KeyPairProvider.wrap(KeyUtils.generateKeyPair(KeyPairProvider.SSH_ED25519, 256)));
        server.setPublickeyAuthenticator((user, key, session) -> false);
        server.setPasswordAuthenticator((user, password, session) -> {
            asked.incrementAndGet();
            boolean right = password.equals(PASSWORD);
            logins.addAndGet(right ? 1 : 0);
            return right;
        });
        server.setForwardingFilter(AcceptAllForwardingFilter.INSTANCE);
        server.setSubsystemFactories(List.of(new SftpSubsystemFactory()));
        offer(UserAuthPublicKeyFactory.INSTANCE, UserAuthPasswordFactory.INSTANCE);
        server.start();
    }

    private void offer(UserAuthFactory... methods) {
        server.setUserAuthFactories(List.of(methods));
    }

    @Test
    void aPasswordIsAskedForOnceForAllConnections() throws Exception {
        Ended ended = AtTerminal.copy(folder, arguments("--lanes", "4"), PASSWORD);

        assertThat(ended.ends(Exit.WELL).out())
                .containsOnlyOnce("me@127.0.0.1:" + server.getPort() + "'s password:")
                .contains("all verified")
                .doesNotContain(PASSWORD);
        assertThat(folder.resolve("copied")).hasContent("content");
        assertThat(logins).as("connections that logged in").hasValueGreaterThan(1);
    }

    @Test
    void aJumpHostHasAPasswordOfItsOwn() throws Exception {
        String jump = "gate@127.0.0.1:" + server.getPort();

        assertThat(AtTerminal.copy(folder, arguments("-J", jump), PASSWORD)
                        .ends(Exit.WELL)
                        .out())
                .containsOnlyOnce(jump + "'s password:")
                .containsOnlyOnce("me@127.0.0.1:" + server.getPort() + "'s password:");
    }

    @Test
    void aPasswordMayBeTypedThreeTimes() throws Exception {
        Ended third = AtTerminal.copy(folder, arguments("--lanes", "1"), "wrong", "again wrong", PASSWORD);
        int before = asked.get();
        Ended never = AtTerminal.copy(folder, arguments("--lanes", "1"), "wrong");

        assertThat(third.ends(Exit.WELL).out()).contains("The password was not accepted.");
        assertThat(never.ends(Exit.NOT_ALLOWED).out())
                .contains("the login of user me without a key", "No typed password was accepted either");
        assertThat(asked.get() - before).isEqualTo(3);
    }

    @Test
    void nothingTypedIsNotAskedAgain() throws Exception {
        assertThat(AtTerminal.copy(folder, arguments("--lanes", "2"), "")
                        .ends(Exit.NOT_ALLOWED)
                        .out())
                .containsOnlyOnce("'s password:");
        assertThat(asked).hasValue(0);
    }

    @Test
    void anInterruptionEndsTheQuestion() throws Exception {
        assertThat(AtTerminal.copy(folder, arguments("--lanes", "2"), "\u0003")
                        .ends(130)
                        .out())
                .containsOnlyOnce("'s password:")
                .contains("interrupted: 0 of");
    }

    @Test
    void questionsOfTheServerAreShownAsTextAndAnsweredOnce() throws Exception {
        offer(
                UserAuthPublicKeyFactory.INSTANCE,
                UserAuthKeyboardInteractiveFactory.INSTANCE,
                UserAuthPasswordFactory.INSTANCE);
        String question = "(me@127.0.0.1:" + server.getPort() + ") Password:";

        assertThat(AtTerminal.copy(folder, arguments("--lanes", "4"), PASSWORD)
                        .ends(Exit.WELL)
                        .out())
                .containsOnlyOnce(question)
                .doesNotContain("'s password:", PASSWORD);
        assertThat(AtTerminal.copy(folder, arguments("--lanes", "1"), "wrong")
                        .ends(Exit.NOT_ALLOWED)
                        .out())
                .as("three times in all, whatever the method")
                .matches(shown -> shown.split("assword:", -1).length == 4);
    }

    @Test
    void withoutATerminalTheErrorSaysWhatIsOfferedAndWhatToDo() throws Exception {
        offer(
                UserAuthPublicKeyFactory.INSTANCE,
                UserAuthKeyboardInteractiveFactory.INSTANCE,
                UserAuthPasswordFactory.INSTANCE);
        List<String> all = arguments("-i", key().toString());

        assertThat(Ended.by((out, err) -> CopyCommand.execute(all, out, err))
                        .ends(Exit.NOT_ALLOWED)
                        .err())
                .contains("does not accept the private key for user me")
                .contains(
                        "It also offers keyboard-interactive and password, but there is no terminal to ask for a password: "
                                + "use a key that it accepts, or an agent");
        assertThat(asked).hasValue(0);
    }

    @Test
    void whereOnlyKeysAreOfferedNobodyIsAsked() throws Exception {
        offer(UserAuthPublicKeyFactory.INSTANCE);

        assertThat(AtTerminal.copy(folder, arguments("-i", key().toString()), PASSWORD)
                        .ends(Exit.NOT_ALLOWED)
                        .out())
                .contains("add ssh-ed25519 ")
                .doesNotContain("assword");
    }

    @Test
    void inBatchModeNobodyIsAsked() throws Exception {
        Path config = Files.writeString(folder.resolve("config"), "Host 127.*\n  BatchMode yes\n");
        List<String> byConfiguration = arguments("-i", key().toString());
        byConfiguration.set(byConfiguration.indexOf("none"), config.toString());

        for (List<String> all : List.of(byConfiguration, arguments("-B", "-i", key().toString()))) {
            assertThat(AtTerminal.copy(folder, all, PASSWORD)
                            .ends(Exit.NOT_ALLOWED)
                            .out())
                    .contains("It also offers password, but BatchMode is on")
                    .doesNotContain("'s password:");
        }
        assertThat(asked).hasValue(0);
    }

    @Test
    void anEncryptedKeyMayBeLeftOut() throws Exception {
        Path key = folder.resolve("encrypted");
        keygen(key, "a passphrase");

        assertThat(AtTerminal.copy(folder, arguments("-i", key.toString()), "", PASSWORD)
                        .ends(Exit.WELL)
                        .out())
                .contains("Passphrase for " + key, "'s password:");
    }

    private Path key() throws Exception {
        Path key = folder.resolve("key");
        keygen(key, "");
        return key;
    }

    private static void keygen(Path key, String passphrase) throws Exception {
        Files.deleteIfExists(key);
        Ended.of(new ProcessBuilder("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", key.toString()))
                .ends(0);
    }

    private List<String> arguments(String... login) throws Exception {
        Path known = Files.writeString(
                folder.resolve("known"),
                "[127.0.0.1]:%d %s%n"
                        .formatted(
                                server.getPort(),
                                PublicKeyEntry.toString(server.getKeyPairProvider()
                                        .loadKeys(null)
                                        .iterator()
                                        .next()
                                        .getPublic())));
        List<String> all = new ArrayList<>(List.of(
                "-q", "-F", "none", "-oIdentityAgent=none", "-P" + server.getPort(), "-oUserKnownHostsFile=" + known));
        all.addAll(List.of(login));
        all.addAll(List.of(file.toString(), "me@127.0.0.1:" + folder + "/copied"));
        return all;
    }
}
