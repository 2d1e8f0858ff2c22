package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.loopback.LoopbackSite;
import dozo.remote.RemoteException.Reason;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands at a real sshd, which share a permanent shell. */
@Timeout(300)
class ShellIT {

    private static final Duration LONG = Duration.ofSeconds(30);

    /** Prints the process that runs the loop: the parent of the one that started the command's shell. */
    private static final String LOOP = "ps -o ppid= -p $PPID";

    @TempDir
    private Path temp;

    private LoopbackSite site;
    private Lanes lanes;

    @BeforeEach
    void startSite() throws Exception {
        site = LoopbackSite.openSsh(temp.resolve("state"), Files.createDirectory(temp.resolve("root")), 0);
        lanes = Lanes.to(site.address(), 1);
    }

    @AfterEach
    void stopSite() throws Exception {
        lanes.close();
        site.close();
    }

    /**
     * In csh "!" is history even in quotes; in fish a backslash before a backslash or a quote has another meaning
     * there.
     */
    @Test
    void theLineThatALoginShellGetsMeansTheSameToEveryKind() {
        assertThat(Shell.LOOP).matches("exec sh -c '[^'!\\n]+'").doesNotContain("\\\\");
    }

    @Test
    void oneShellRunsOneCommandAfterTheOther() throws Exception {
        String first = say(LOOP);

        assertThat(first.strip()).matches("[0-9]+");
        assertThat(say(LOOP)).isEqualTo(first);
    }

    @Test
    void commandsAtOnceHaveShellsOfTheirOwnUpToThree() throws Exception {
        List<CompletableFuture<String>> answers = new ArrayList<>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 12; i++) {
                CompletableFuture<String> answer = new CompletableFuture<>();
                answers.add(answer);
                threads.submit(() -> answer.complete(say("sleep 0.2; " + LOOP)));
            }
        }
        assertThat(answers.stream().map(CompletableFuture::join).distinct().count())
                .isBetween(2L, 3L);
    }

    @Test
    void whatACommandLeavesOfItsInputIsNotTheNextOnes() throws Exception {
        byte[] input = "echo this is no command\n".repeat(100_000).getBytes(StandardCharsets.US_ASCII);

        assertThat(run("exit 7", input).exitStatus()).isEqualTo(7);
        assertThat(run("read -r line; echo \"$line\"", input).output()).isEqualTo("echo this is no command\n");
        assertThat(say("echo fine")).isEqualTo("fine\n");
    }

    @Test
    void whatACommandSaysComesBackByteForByte() throws Exception {
        byte[] bytes = new byte[70_000];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        CommandResult result = run("cat; printf \"no line feed\" >&2", bytes);

        assertThat(result.output().getBytes(StandardCharsets.ISO_8859_1)).isEqualTo(bytes);
        assertThat(result.errors()).isEqualTo("no line feed");
    }

    @Test
    void ofALongComplaintTheBeginningIsKept() throws Exception {
        CommandResult result = run("head -c 100000 /dev/zero | tr \"\\\\0\" x >&2; echo done", new byte[0]);

        assertThat(result.output()).isEqualTo("done\n");
        assertThat(result.errors()).hasSize(4096).containsOnlyOnce("x".repeat(4096));
    }

    @Test
    void whoSaysTooMuchIsNotHeard() throws Exception {
        assertThatThrownBy(() -> say("head -c 1100000 /dev/zero"))
                .isInstanceOfSatisfying(
                        RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL));
        assertThat(say("echo fine")).isEqualTo("fine\n");
    }

    @Test
    void aShellThatIsKilledFailsItsCommandAndTheNextOneHasANewOne() throws Exception {
        assertThatThrownBy(() -> say("kill -9 $(" + LOOP + "); sleep 20"))
                .isInstanceOfSatisfying(
                        RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.LOST));
        assertThat(say("echo fine")).isEqualTo("fine\n");
    }

    @Test
    void anAccountThatRunsNoCommandsSaysSoEveryTime() throws Exception {
        try (LoopbackSite none = LoopbackSite.openSsh(
                        temp.resolve("none"), temp.resolve("root"), 0, "ForceCommand internal-sftp");
                Lanes few = Lanes.to(none.address(), 1)) {
            Lane lane = few.next();
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> lane.run("echo", new byte[0], 100, LONG))
                        .isInstanceOfSatisfying(
                                RemoteException.class,
                                e -> assertThat(e.reason()).isEqualTo(Reason.UNSUPPORTED));
            }
        }
    }

    /** OpenSSH ends the whole connection if anything arrives for a channel that both sides have closed. */
    @Test
    void aCommandThatEndsWhileItIsFedLeavesTheConnectionToTheOthers() throws Exception {
        Lane lane = lanes.next();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> feeding = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                feeding.add(threads.submit(() -> feedCommandsThatEnd(lane, 100)));
            }
            for (Future<?> each : feeding) {
                each.get();
            }
        }
        assertThat(lane.run("echo fine", new byte[0], 100, LONG).output()).isEqualTo("fine\n");
    }

    @Test
    void aFeedThatIsClosedTwiceIsCountedOnce() throws Exception {
        Lane lane = lanes.next();
        try (Feed feed = lane.feed("cat > /dev/null", Patience.USUAL)) {
            feed.put(new byte[1], 1);
            feed.close();
        }
        assertThat(lane.feeds()).isZero();
    }

    private static Void feedCommandsThatEnd(Lane lane, int times) {
        byte[] input = new byte[1 << 20];
        for (int i = 0; i < times; i++) {
            try (Feed feed = lane.feed("head -c 100000 > /dev/null", Patience.USUAL)) {
                assertThatThrownBy(() -> feedForever(feed, input))
                        .isInstanceOfSatisfying(
                                RemoteException.class,
                                e -> assertThat(e.reason()).isEqualTo(Reason.REFUSED));
            }
            assertThat(lane.isOpen()).isTrue();
        }
        return null;
    }

    private static void feedForever(Feed feed, byte[] input) throws Exception {
        while (true) {
            feed.put(input, input.length);
        }
    }

    private String say(String command) throws Exception {
        return run(command, new byte[0]).output();
    }

    private CommandResult run(String command, byte[] input) throws Exception {
        return lanes.next().run(command, input, 1 << 20, LONG);
    }
}
