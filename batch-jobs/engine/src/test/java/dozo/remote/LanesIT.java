package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.core.CoreModuleProperties;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The number of lanes and channels changes while they are in use, and no work fails because of that. */
@Timeout(300)
class LanesIT {

    private static final Duration SOON = Duration.ofMillis(1);
    private static final Duration NEVER = Duration.ofDays(1);
    private static final int BYTES = 1_000_000;

    private LoopbackSite site;

    @BeforeEach
    void open(@TempDir Path temp) throws Exception {
        site = LoopbackSite.openSsh(temp.resolve("state"), temp.resolve("root"), 0);
    }

    @AfterEach
    void close() throws Exception {
        site.close();
    }

    /** A site cannot know that another process has taken over. */
    @Test
    void nothingArrivesAfterTheCheckHasFailed() throws Exception {
        AtomicBoolean lost = new AtomicBoolean();
        try (Lanes lanes = Lanes.to(site.address(), 1).checked(() -> {
            if (lost.get()) {
                throw new IOException("not the active service");
            }
        })) {
            RemoteFile file = lanes.next().all().getFirst().create(FilePath.of("file"));
            file.write(0, new byte[BYTES], 0, BYTES);
            file.finish(false);
            RemoteFile open = lanes.next().all().getFirst().create(FilePath.of("open"));

            lost.set(true);

            assertThatThrownBy(() -> {
                        open.write(0, new byte[BYTES], 0, BYTES);
                        open.finish(false);
                    })
                    .isInstanceOf(RemoteException.class);
            assertThatThrownBy(lanes::next).isInstanceOf(RemoteException.class);
            Path root = Path.of(site.address().root());
            assertThat(root.resolve("file")).hasSize(BYTES);
            assertThat(root.resolve("open")).isEmptyFile();

            lost.set(false);
            // The first call may still report the last failure; it tries again.
            await().ignoreExceptions().until(() -> lanes.next().isOpen());
        }
    }

    @Test
    void whatIsTooManyIsClosedWhenItsWorkIsDone() throws Exception {
        try (Lanes lanes = TestLanes.changeable(site.address(), 3, 2, SOON)) {
            List<Lane> all = opened(lanes, 3, 2);
            List<RemoteFile> files = new ArrayList<>();
            for (Lane lane : all) {
                for (Sftp channel : lane.all()) {
                    files.add(channel.create(FilePath.of("file" + files.size())));
                }
            }
            List<Sftp> channels = all.getFirst().all();

            lanes.want(1, 1);

            assertThat(lanes.all()).containsExactly(all.getFirst());
            assertThat(all.getFirst().all()).containsExactly(channels.getFirst());
            for (RemoteFile file : files) {
                file.write(0, new byte[BYTES], 0, BYTES);
                file.finish(false);
            }
            for (int i = 0; i < 6; i++) {
                assertThat(Files.size(Path.of(site.address().root()).resolve("file" + i)))
                        .isEqualTo(BYTES);
            }
            await().atMost(Duration.ofMinutes(5))
                    .until(() -> !all.get(1).isOpen() && !all.get(2).isOpen());
            await().atMost(Duration.ofMinutes(5))
                    .until(() -> !channels.get(1).pipeline().isOpen());
            assertThat(all.getFirst().isOpen()).isTrue();
            assertThat(all.getFirst().bytesMoved()).isGreaterThan(2 * BYTES);
        }
    }

    @Test
    void aLaneThatRunsACommandIsNotClosed() throws Exception {
        try (Lanes lanes = TestLanes.changeable(site.address(), 2, 1, SOON)) {
            Lane lane = opened(lanes, 2, 1).get(1);
            Path fifo = Path.of(site.address().root()).resolve("fifo");
            assertThat(lane.run("mkfifo '%s'".formatted(fifo), new byte[0], 100, Duration.ofMinutes(1))
                            .exitStatus())
                    .isZero();
            Thread.Builder.OfVirtual reader = Thread.ofVirtual();
            List<String> read = new ArrayList<>();
            Thread reading = reader.start(() -> {
                try {
                    read.add(lane.run("cat '%s'".formatted(fifo), new byte[0], 100, Duration.ofMinutes(1))
                            .output());
                } catch (RemoteException | InterruptedException e) {
                    read.add(e.toString());
                }
            });
            await().atMost(Duration.ofMinutes(5)).until(() -> lane.idleNanos() == 0);

            lanes.want(1, 1);
            Files.writeString(fifo, "the end");
            reading.join();

            assertThat(read).containsExactly("the end");
            await().atMost(Duration.ofMinutes(5)).until(() -> !lane.isOpen());
        }
    }

    @Test
    void whatWasTooManyIsUsedAgainIfItIsStillOpen() throws Exception {
        try (Lanes lanes = TestLanes.changeable(site.address(), 3, 2, NEVER)) {
            List<Lane> all = opened(lanes, 3, 2);
            List<Sftp> channels = all.getFirst().all();

            lanes.want(1, 1);
            lanes.want(3, 2);

            assertThat(lanes.all()).containsExactlyInAnyOrderElementsOf(all);
            assertThat(all.getFirst().all()).containsExactlyElementsOf(channels);
        }
    }

    @Test
    void whatWasClosedIsOpenedAgain() throws Exception {
        try (Lanes lanes = TestLanes.changeable(site.address(), 2, 2, SOON)) {
            List<Lane> all = opened(lanes, 2, 2);
            Sftp second = all.getFirst().all().get(1);
            lanes.want(1, 1);
            await().atMost(Duration.ofMinutes(5))
                    .until(() -> !all.get(1).isOpen() && !second.pipeline().isOpen());

            lanes.want(2, 2);

            assertThat(opened(lanes, 2, 2)).contains(all.getFirst()).doesNotContain(all.get(1));
        }
    }

    /** A large file is written for hours, and asks for no lane meanwhile. */
    @Test
    void lanesAreOpenedWhileAFileIsWritten() throws Exception {
        try (Lanes lanes = TestLanes.changeable(site.address(), 3, 1, NEVER)) {
            RemoteFile file = lanes.next().sftp().create(FilePath.of("file"));
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofNanos(1))
                    .atMost(Duration.ofMinutes(5))
                    .until(() -> {
                        file.write(0, new byte[BYTES], 0, BYTES);
                        return lanes.open() == 3;
                    });
            file.finish(false);
        }
    }

    @Test
    void filesOpenAtOnceFollow() throws Exception {
        try (Lanes lanes = TestLanes.changeable(site.address(), 2, 2, SOON)) {
            var _ = opened(lanes, 2, 2);
            await().atMost(Duration.ofMinutes(5)).until(() -> lanes.files().availablePermits() == 4 * 64);
            lanes.files().acquire(200);

            lanes.want(1, 1);
            await().atMost(Duration.ofMinutes(5)).until(() -> lanes.files().availablePermits() == 0);
            lanes.files().release(200);
            await().atMost(Duration.ofMinutes(5)).until(() -> lanes.files().availablePermits() == 64);
        }
    }

    @Test
    void theFirstDecisionIsKept() throws Exception {
        try (Lanes lanes = Lanes.tuned(site.address(), new TuningStart.Carried(5e6))) {
            assertThat(lanes.decisions()).isEmpty();
            var _ = lanes.next();
            assertThat(lanes.decisions()).singleElement().satisfies(first -> {
                assertThat(first.reason()).isEqualTo(TuningReason.EARLIER_RATE);
                assertThat(first.bytesPerSecond()).isEqualTo(5e6);
                assertThat(first.channels()).isOne();
            });
        }
        try (Lanes lanes = Lanes.tuned(site.address())) {
            var _ = lanes.next();
            assertThat(lanes.decisions()).singleElement().satisfies(first -> {
                assertThat(first.reason()).isEqualTo(TuningReason.ASSUMED_RATE);
                assertThat(first.bytesPerSecond()).isNull();
            });
        }
        try (Lanes lanes = Lanes.to(site.address(), 1)) {
            var _ = lanes.next();
            assertThat(lanes.decisions()).as("a fixed number").isEmpty();
        }
    }

    @Test
    void aSiteThatRefusesLanesGetsFewer() throws Exception {
        KeyPair host = KeyUtils.generateKeyPair("ssh-ed25519", 256);
        try (SshServer few = SshServer.setUpDefaultServer()) {
            few.setHost("127.0.0.1");
            few.setKeyPairProvider(KeyPairProvider.wrap(host));
            few.setPublickeyAuthenticator((_, _, _) -> true);
            few.setSubsystemFactories(List.of(new SftpSubsystemFactory()));
            CoreModuleProperties.MAX_CONCURRENT_SESSIONS.set(few, 3);
            few.start();
            SiteAddress keys = site.address();
            SiteAddress address = new SiteAddress(
                    "127.0.0.1",
                    few.getPort(),
                    keys.user(),
                    keys.root(),
                    keys.identity(),
                    PublicKeyEntry.toString(host.getPublic()));
            try (Lanes lanes = Lanes.tuned(address, new TuningStart.Chosen(new TuningGrid.Cell(8, 1, 1e6)))) {
                await().atMost(Duration.ofMinutes(3)).until(() -> {
                    var _ = lanes.next();
                    return lanes.decisions().size() == 2;
                });
                assertThat(lanes.decisions().getLast().reason()).isEqualTo(TuningReason.SITE_LIMIT);
                assertThat(lanes.decisions().getLast().lanes())
                        .isEqualTo(lanes.open())
                        .isLessThan(8);
                assertThat(lanes.trouble()).isPresent();
            }
        }
    }

    private static List<Lane> opened(Lanes lanes, int count, int channels) {
        Set<Lane> handed = new HashSet<>();
        await().atMost(Duration.ofMinutes(5)).until(() -> {
            handed.add(lanes.next());
            return lanes.open() == count && lanes.all().stream().allMatch(lane -> lane.channels() == channels);
        });
        return lanes.all();
    }
}
