package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The guard of a hardened site with bad input, and a site whose guard fails. */
@Timeout(120)
class GuardIT {

    private static final byte BAD_MESSAGE = 5;

    @TempDir
    Path temp;

    private Path root;
    private Path stored;
    private Process guard;
    private DataOutputStream out;
    private DataInputStream in;

    @BeforeEach
    void startGuard() throws IOException {
        root = Files.createDirectory(temp.resolve("root")).toRealPath();
        Files.createDirectories(root.resolve("p/E1/data"));
        Files.createDirectories(root.resolve(".dozo/incoming"));
        stored = Files.writeString(root.resolve("p/E1/data/stored"), "stored");
        guard = guard("internal-sftp");
        out = new DataOutputStream(guard.getOutputStream());
        in = new DataInputStream(guard.getInputStream());
    }

    @AfterEach
    void endGuard() {
        guard.destroyForcibly();
    }

    private Process guard(String command) throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder("python3", "-IS", GuardedSite.script().toString(), root.toString());
        builder.environment().put("SSH_ORIGINAL_COMMAND", command);
        return builder.redirectError(temp.resolve("said").toFile()).start();
    }

    private void send(int type, byte[] body) throws IOException {
        out.writeInt(body.length + 5);
        out.write(type);
        out.writeInt(7);
        out.write(body);
        out.flush();
    }

    /** Returns the type of the next answer and its body after the request's number. */
    private byte[] answer() throws IOException {
        byte[] packet = in.readNBytes(in.readInt());
        byte[] answer = Arrays.copyOfRange(packet, 4, packet.length);
        answer[0] = packet[0];
        return answer;
    }

    private void assertEndedSaying(String words) throws Exception {
        assertThat(guard.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(guard.exitValue()).isEqualTo(1);
        assertThat(temp.resolve("said")).content().contains(words);
        assertThat(stored).hasContent("stored");
    }

    @Test
    void aPacketThatIsTooLongEndsIt() throws Exception {
        out.writeInt((256 << 10) + 1);
        out.flush();

        assertEndedSaying("not an SFTP packet");
    }

    @Test
    void aPacketThatIsCutEndsIt() throws Exception {
        out.writeInt(1000);
        out.write(new byte[999]);
        out.close();

        assertEndedSaying("the last packet is cut");
    }

    @Test
    void aRequestThatEndsTooEarlyIsRefusedAndTheNextAnswered() throws Exception {
        send(Packet.REMOVE, new byte[] {0, 0, 1, 0, 'x'});
        assertThat(answer()).startsWith(Packet.STATUS, 0, 0, 0, BAD_MESSAGE);
        send(Packet.WRITE, new byte[] {0, 0});
        assertThat(answer()).startsWith(Packet.STATUS, 0, 0, 0, BAD_MESSAGE);
        send(Packet.LSTAT, new byte[4]);
        assertThat(answer()).startsWith(Packet.ATTRS);
    }

    @Test
    void randomRequestsChangeNoStoredFile() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<String> paths = List.of(
                "",
                "/",
                ".",
                "..",
                "p",
                "p/E1/data/stored",
                ".dozo",
                ".dozo/incoming/x",
                "\0",
                root.toString(),
                root + "/p/E1/data",
                root + "/.dozo/incoming/y",
                "/etc",
                "copy-data",
                "sync@dozo",
                "posix-rename@openssh.com",
                "check-file-name",
                ".dozo/versions/p/E1/1/data/stored",
                "a".repeat(300));
        for (int i = 0; i < 5_000; i++) {
            ByteBuffer body = ByteBuffer.allocate(2000);
            for (int part = random.nextInt(6); part > 0; part--) {
                if (random.nextBoolean()) {
                    byte[] path = paths.get(random.nextInt(paths.size())).getBytes(StandardCharsets.UTF_8);
                    body.putInt(path.length).put(path);
                } else {
                    body.putInt(random.nextInt(random.nextBoolean() ? 64 : Integer.MAX_VALUE));
                }
            }
            int type = random.nextInt(4) == 0 ? Packet.EXTENDED : 3 + random.nextInt(18);
            send(type, Arrays.copyOf(body.array(), body.position()));
            assertThat(answer()).as("seed %s", seed).isNotEmpty();
        }

        assertThat(guard.isAlive()).as("seed %s", seed).isTrue();
        // It may have been moved to its versions.
        Path kept = root.resolve(".dozo/versions/p/E1/1/data/stored");
        assertThat(Files.exists(stored) ? stored : kept).as("seed %s", seed).hasContent("stored");
    }

    @Test
    void aCommandIsRefusedInPlainWords() throws Exception {
        guard.destroy();
        guard = guard("tar -x");

        assertEndedSaying("this account speaks SFTP only");
    }

    @Test
    void aFileIsNotNamedIfTheGuardEndsInTheMiddle() throws Exception {
        Path dying = Files.createFile(temp.resolve("dying"));
        try (LoopbackSite site = GuardedSite.dying(temp.resolve("state"), root, dying);
                Lanes lanes = Lanes.to(site.address(), 1, 1)) {
            Sftp sftp = lanes.next().sftp();
            RemoteFile file = sftp.create(FilePath.of(".dozo/incoming/1"));
            byte[] bytes = new byte[8 << 20];
            assertThatThrownBy(() -> {
                        file.write(0, bytes, 0, bytes.length);
                        file.finish(true);
                    })
                    .isInstanceOfSatisfying(
                            RemoteException.class,
                            e -> assertThat(e.retryable()).isTrue());
        }
        assertThat(stored).hasContent("stored");
    }

    @Test
    void aGuardOfAnotherVersionIsAFinding() throws Exception {
        Path other = temp.resolve("other.py");
        Files.writeString(other, Files.readString(GuardedSite.script()).replace("guard-1@dozo", "guard-9@dozo"));
        try (LoopbackSite site = GuardedSite.start(temp.resolve("state"), root, other);
                Lanes lanes = Lanes.to(site.address(), 1, 1)) {
            SiteCheck check = SiteCheck.of(lanes.next());

            assertThat(check.usable()).isTrue();
            assertThat(check.findings())
                    .singleElement()
                    .asString()
                    .contains("guard-9@dozo")
                    .contains("guard-1@dozo");
        }
    }
}
