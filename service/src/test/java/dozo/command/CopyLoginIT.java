package dozo.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.Ended;
import dozo.db.ChildJava;
import dozo.db.Program;
import dozo.loopback.LoopbackSite;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Logs in with keys that are not simply in a file: of an agent, with a passphrase, with a certificate. */
class CopyLoginIT {

    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final String PASSPHRASE = "a passphrase of a test";

    @TempDir
    Path folder;

    private final List<Process> agents = new ArrayList<>();
    private Path file;
    private Path key;
    private LoopbackSite site;

    @BeforeEach
    void start() throws Exception {
        folder = folder.toRealPath();
        file = Files.writeString(folder.resolve("file"), "content");
        key = folder.resolve("key");
        keygen("-t", "ed25519", "-N", PASSPHRASE, "-f", key.toString());
        keygen("-t", "ed25519", "-N", "", "-f", folder.resolve("ca").toString());
        site = LoopbackSite.openSsh(
                folder.resolve("sshd"), folder.resolve("dr"), 0, "TrustedUserCAKeys " + folder.resolve("ca.pub"));
    }

    @AfterEach
    void stop() throws Exception {
        for (Process agent : agents) {
            agent.destroy();
            agent.waitFor();
        }
        site.close();
    }

    @Test
    void anAgentSignsWithTheKeyOfAnEncryptedFile() throws Exception {
        admit(key);
        Path agent = agent(key);

        copy("-i", key.toString(), "-o", "IdentityAgent=" + agent).ends(Exit.WELL);
        copy("-i", key + ".pub", "-o", "IdentityAgent=" + agent).ends(Exit.WELL);
        Files.move(key, folder.resolve("elsewhere"));
        copy("-i", key.toString(), "-o", "IdentityAgent=" + agent).ends(Exit.WELL);
    }

    @Test
    void withoutAFileAnyKeyOfTheAgentWill() throws Exception {
        Path other = folder.resolve("other");
        keygen("-t", "ecdsa", "-N", "", "-f", other.toString());
        Path agent = agent(key, other);
        Ended refused = copy("-o", "IdentityAgent=" + agent);

        assertThat(refused.ends(Exit.NOT_ALLOWED).err()).contains("accepts no key of the agent");
        admit(other);
        copy("-o", "IdentityAgent=" + agent).ends(Exit.WELL);
        assertThat(site.address().root())
                .satisfies(root -> assertThat(Path.of(root, "copied")).hasContent("content"));
    }

    @Test
    void anyKeyOfTheAgentWillAlsoIfTheUsualFileIsEncrypted() throws Exception {
        Path home = Files.createDirectories(folder.resolve("home/.ssh")).getParent();
        Files.copy(key, home.resolve(".ssh/id_ed25519"));
        Files.copy(Path.of(key + ".pub"), home.resolve(".ssh/id_ed25519.pub"));
        Path other = folder.resolve("other");
        keygen("-t", "ed25519", "-N", "", "-f", other.toString());
        admit(other);

        Ended.of(ChildJava.of(CopyCommand.class)
                        .options("-Duser.home=" + home)
                        .arguments(
                                arguments("-o", "IdentityAgent=" + agent(other)).toArray(String[]::new))
                        .process())
                .ends(Exit.WELL);
    }

    @Test
    void withoutATerminalAnEncryptedKeyIsRefused() throws Exception {
        admit(key);

        for (String agent : List.of("none", folder + "/no-agent")) {
            assertThat(copy("-i", key.toString(), "-o", "IdentityAgent=" + agent)
                            .ends(Exit.NOT_ALLOWED)
                            .err())
                    .contains("no terminal to ask for its passphrase")
                    .contains("ssh-add " + key);
        }
    }

    @Test
    void inBatchModeNoPassphraseIsAskedFor() throws Exception {
        admit(key);

        Ended ended =
                AtTerminal.copy(folder, arguments("-B", "-i", key.toString(), "-o", "IdentityAgent=none"), PASSPHRASE);

        assertThat(ended.ends(Exit.NOT_ALLOWED).out())
                .contains("is encrypted, and BatchMode forbids to ask for its passphrase")
                .doesNotContain("Passphrase for");
    }

    @Test
    void aPassphraseIsAskedForOnce() throws Exception {
        admit(key);

        Ended ended = AtTerminal.copy(
                folder,
                arguments("-i", key.toString(), "-o", "IdentityAgent=none", "--lanes", "2", "-J", jump()),
                PASSPHRASE);

        assertThat(ended.ends(Exit.WELL).out())
                .containsOnlyOnce("Passphrase for " + key)
                .contains("all verified")
                .doesNotContain(PASSPHRASE);
    }

    @Test
    void aCertificateLogsInWithoutAnAuthorizedKey() throws Exception {
        Path plain = folder.resolve("plain");
        keygen("-t", "ed25519", "-N", "", "-f", plain.toString());
        copy("-i", plain.toString()).ends(Exit.NOT_ALLOWED);

        keygen("-s", folder + "/ca", "-I", "test", "-n", site.address().user(), plain + ".pub");

        copy("-i", plain.toString()).ends(Exit.WELL);
    }

    /** The site itself: a jump host with the same key. */
    private String jump() {
        SiteAddress at = site.address();
        return "%s@%s:%d".formatted(at.user(), at.host(), at.port());
    }

    private void admit(Path admitted) throws IOException {
        Files.writeString(
                folder.resolve("sshd/authorized_keys"),
                Files.readString(Path.of(admitted + ".pub")),
                UTF_8,
                StandardOpenOption.APPEND);
    }

    private static void keygen(String... arguments) throws Exception {
        Program.succeed(Stream.concat(Stream.of("ssh-keygen", "-q"), Stream.of(arguments))
                .toArray(String[]::new));
    }

    /** Starts an agent that has these keys, and returns its socket. */
    private Path agent(Path... keys) throws Exception {
        Path socket = folder.resolve("agent");
        agents.add(new ProcessBuilder("ssh-agent", "-D", "-a", socket.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start());
        await().atMost(LIMIT).until(() -> Files.exists(socket));
        Path ask = Files.writeString(folder.resolve("ask"), "#!/bin/sh\necho '%s'\n".formatted(PASSPHRASE));
        ask.toFile().setExecutable(true);
        for (Path each : keys) {
            ProcessBuilder add = new ProcessBuilder("ssh-add", "-q", each.toString());
            add.environment()
                    .putAll(Map.of(
                            "SSH_AUTH_SOCK", socket.toString(),
                            "SSH_ASKPASS", ask.toString(),
                            "SSH_ASKPASS_REQUIRE", "force"));
            Program.run(add).succeeded();
        }
        return socket;
    }

    private Ended copy(String... login) throws IOException {
        List<String> all = arguments(login);
        return Ended.by((out, err) -> CopyCommand.execute(all, out, err));
    }

    private List<String> arguments(String... login) throws IOException {
        SiteAddress at = site.address();
        Path known = Files.writeString(
                folder.resolve("known"), "[%s]:%d %s%n".formatted(at.host(), at.port(), at.hostKey()));
        List<String> all =
                new ArrayList<>(List.of("-q", "-F", "none", "-P" + at.port(), "-oUserKnownHostsFile=" + known));
        all.addAll(List.of(login));
        all.addAll(List.of(file.toString(), "%s@%s:%s/copied".formatted(at.user(), at.host(), at.root())));
        return all;
    }
}
