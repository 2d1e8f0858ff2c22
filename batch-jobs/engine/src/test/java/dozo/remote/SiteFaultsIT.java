package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.keyverifier.AcceptAllServerKeyVerifier;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.config.keys.writer.openssh.OpenSSHKeyPairResourceWriter;
import org.apache.sshd.common.keyprovider.FileKeyPairProvider;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A fault of a site is reported with its right reason, and causes no other failures. */
@Timeout(300)
class SiteFaultsIT {

    private static final FilePath FILE = FilePath.of("file");

    @TempDir
    Path temp;

    /** A request to a site. */
    private interface Request {
        void of(Sftp sftp) throws Exception;
    }

    private LoopbackSite site(String... configLines) throws IOException {
        return LoopbackSite.openSsh(temp.resolve("state"), temp.resolve("root"), 0, configLines);
    }

    private static SiteAddress with(SiteAddress site, int port, Path identity, String hostKey) {
        return new SiteAddress(site.host(), port, site.user(), site.root(), identity, hostKey);
    }

    private static RemoteException failureOf(ThrowingCallable deed) {
        try {
            deed.call();
        } catch (RemoteException e) {
            return e;
        } catch (Throwable e) {
            throw new AssertionError("failed in another way", e);
        }
        throw new AssertionError("nothing failed");
    }

    private static void put(Sftp sftp, FilePath path, int bytes) throws Exception {
        try (RemoteFile file = sftp.create(path)) {
            file.write(0, new byte[bytes], 0, bytes);
            file.finish(0600, 0, true);
        }
    }

    private static KeyPair freshKey() throws Exception {
        return KeyUtils.generateKeyPair("ssh-ed25519", 256);
    }

    @Test
    void anotherHostKeyIsRefusedAtOnce() throws Exception {
        try (LoopbackSite site = site()) {
            SiteAddress right = site.address();
            String otherKey = PublicKeyEntry.toString(freshKey().getPublic());
            try (Lanes lanes = Lanes.to(with(right, right.port(), right.identity(), otherKey), 1)) {
                RemoteException failure = failureOf(lanes::next);
                assertThat(failure.reason()).isEqualTo(Reason.HOST_KEY);
                assertThat(failure.retryable()).isFalse();
            }
            try (Lanes lanes = Lanes.to(
                    with(right, right.port(), right.identity(), "# two keys\n" + otherKey + "\n" + right.hostKey()),
                    1)) {
                assertThat(lanes.next().isOpen()).isTrue();
            }
        }
    }

    @Test
    void anotherKeyOfOursIsRefusedAtOnce() throws Exception {
        Path otherKey = temp.resolve("other");
        KeyPair other = freshKey();
        try (var out = Files.newOutputStream(otherKey)) {
            OpenSSHKeyPairResourceWriter.INSTANCE.writePrivateKey(other, "other", null, out);
        }
        Files.setPosixFilePermissions(otherKey, PosixFilePermissions.fromString("rw-------"));
        Path noKey = Files.writeString(temp.resolve("no key"), "nothing of the kind");
        try (LoopbackSite site = site()) {
            SiteAddress right = site.address();
            for (Path identity : List.of(otherKey, noKey, temp.resolve("missing"))) {
                try (Lanes lanes = Lanes.to(with(right, right.port(), identity, right.hostKey()), 1)) {
                    RemoteException failure = failureOf(lanes::next);
                    assertThat(failure.reason()).isEqualTo(Reason.LOGIN_REFUSED);
                    assertThat(failure)
                            .hasMessageContaining(
                                    identity.equals(otherKey)
                                            ? PublicKeyEntry.toString(other.getPublic())
                                            : identity.toString());
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "Ciphers aes256-cbc; cipher: expected one of; found aes256-cbc",
                "MACs hmac-sha2-256,umac-64@openssh.com; MAC: expected one of hmac-sha2-256-etm@openssh.com; umac-64@",
                "KexAlgorithms diffie-hellman-group14-sha1; key exchange: expected one of; found diffie-hellman",
            })
    void aServerThatOffersNothingAcceptedSaysOfWhichKind(String line, String expected, String found) throws Exception {
        try (LoopbackSite site = site(line, line.startsWith("MACs") ? "Ciphers aes256-ctr" : "# nothing else");
                Lanes lanes = Lanes.to(site.address(), 1)) {
            RemoteException failure = failureOf(lanes::next);
            assertThat(failure.reason()).isEqualTo(Reason.PROTOCOL);
            assertThat(failure)
                    .hasMessageContaining("offers no accepted " + expected)
                    .hasMessageContaining(found);
        }
    }

    @Test
    void aServerWithAnAcceptedCipherNeedsNoMac() throws Exception {
        try (LoopbackSite site = site("MACs hmac-sha2-256");
                Lanes lanes = Lanes.to(site.address(), 1)) {
            assertThat(lanes.next().isOpen()).isTrue();
            SiteAddress right = site.address();
            Path hostsOwnKey = temp.resolve("state/host");
            try (Lanes refused = Lanes.to(with(right, right.port(), hostsOwnKey, right.hostKey()), 1)) {
                assertThat(failureOf(refused::next).reason()).isEqualTo(Reason.LOGIN_REFUSED);
            }
        }
    }

    @Test
    void nothingListeningIsUnreachable() throws Exception {
        SiteAddress gone;
        try (LoopbackSite site = site()) {
            gone = site.address();
        }
        try (Lanes lanes = Lanes.to(gone, 4)) {
            RemoteException failure = failureOf(lanes::next);
            assertThat(failure.reason()).isEqualTo(Reason.UNREACHABLE);
            assertThat(failure.retryable()).isTrue();
        }
    }

    @Test
    void anAccountWithoutSftpIsNamed() throws Exception {
        try (LoopbackSite site = site("ForceCommand false");
                Lanes lanes = Lanes.to(site.address(), 1)) {
            assertThat(failureOf(lanes::next).reason()).isEqualTo(Reason.NO_SFTP);
        }
    }

    @Test
    void chatterBeforeSftpIsNamed() throws Exception {
        try (LoopbackSite site = site("ForceCommand echo Welcome to this server, dear friends");
                Lanes lanes = Lanes.to(site.address(), 1)) {
            assertThat(failureOf(lanes::next).reason()).isEqualTo(Reason.PROTOCOL);
        }
    }

    @Test
    void chatterThatComesBeforeWeSaidHelloIsNamedAtOnce() throws Exception {
        try (LoopbackSite site = site("ForceCommand echo Welcome to this server, dear friends");
                SshClient client = SshClient.setUpDefaultClient()) {
            client.setServerKeyVerifier(AcceptAllServerKeyVerifier.INSTANCE);
            client.setKeyIdentityProvider(new FileKeyPairProvider(site.address().identity()));
            client.start();
            ClientSession session = client.connect(
                            site.address().user(),
                            site.address().host(),
                            site.address().port())
                    .verify()
                    .getSession();
            session.auth().verify();
            Pipeline pipeline = Pipeline.open("dr", session);
            await().atMost(Duration.ofMinutes(5)).until(() -> !pipeline.isOpen());

            assertThat(failureOf(pipeline::hello).reason()).isEqualTo(Reason.PROTOCOL);
        }
    }

    @Test
    void aLinkThatIsResetAtAnyPointOfALoginIsALostLinkAndNothingElse() throws Exception {
        try (LoopbackSite site = site()) {
            Optional<RemoteException> failure = Optional.empty();
            for (int reads = 1; reads == 1 || failure.isPresent(); reads++) {
                failure = withReset(site, reads, lane -> lane.sftp().lstat(FILE));
                assertThat(failure.map(RemoteException::reason).orElse(Reason.LOST))
                        .as("reset after %d reads: %s", reads, failure)
                        .isIn(Reason.LOST, Reason.UNREACHABLE);
            }
        }
    }

    @Test
    void aLinkThatIsResetDuringTheCheckTakesNoCapabilityAway() throws Exception {
        try (LoopbackSite site = site()) {
            Optional<RemoteException> failure = Optional.empty();
            int failures = 0;
            for (int reads = 20; reads < 60 || failure.isPresent(); reads += 13) {
                int after = reads;
                failure = withReset(site, reads, lane -> {
                    SiteCheck check = SiteCheck.of(lane);
                    assertThat(check.findings())
                            .as("reset after %d reads", after)
                            .isEmpty();
                    assertThat(check.digest().method()).startsWith("exec ");
                    assertThat(List.of(check.usable(), check.syncsAtOnce(), check.unpacksTar(), check.linksFiles()))
                            .as("reset after %d reads", after)
                            .containsOnly(true);
                });
                failures += failure.isPresent() ? 1 : 0;
                assertThat(failure.map(RemoteException::reason).orElse(Reason.LOST))
                        .as("reset after %d reads: %s", reads, failure)
                        .isIn(Reason.LOST, Reason.UNREACHABLE);
            }
            assertThat(failures).isPositive();
        }
    }

    private interface OnLane {
        void on(Lane lane) throws Exception;
    }

    /** Returns how work over a connection fails that is reset after so many reads; empty if it does not fail. */
    private static Optional<RemoteException> withReset(LoopbackSite site, int reads, OnLane work) throws Exception {
        try (SilentRelay relay = new SilentRelay(site.address());
                SshLogin login = SshLogin.at(relay.address(), WriteCheck.NONE)) {
            relay.resetAfter(() -> relay.resets() == 0 ? reads : 0);
            try (Lane lane = login.lane(1, 1)) {
                work.on(lane);
                return Optional.empty();
            } catch (RemoteException e) {
                return Optional.of(e);
            }
        }
    }

    @Test
    void aSiteThatAllowsOneChannelIsServedWithOne() throws Exception {
        try (LoopbackSite site = site("MaxSessions 1");
                Lanes lanes = Lanes.to(site.address(), 1, 4)) {
            Lane lane = lanes.next();
            SiteCheck check = SiteCheck.of(lane);
            assertThat(check.usable()).isTrue();
            assertThat(check.digest().method()).isEqualTo("read-back");
        }
    }

    @Test
    void manyLanesMeetASiteThatDropsLogins() throws Exception {
        try (LoopbackSite site = site("MaxStartups 2:50:4");
                Lanes lanes = Lanes.to(site.address(), 16)) {
            for (int i = 0; i < 200; i++) {
                Lane lane = lanes.next();
                put(lane.sftp(), FilePath.of("f" + i), 1000);
            }
        }
    }

    @Test
    void aServerKilledUnderAWriteIsLostAndReplaced() throws Exception {
        LoopbackSite first = site();
        int port = first.address().port();
        try (Lanes lanes = Lanes.to(first.address(), 2)) {
            Lane lane = lanes.next();
            CountDownLatch under = new CountDownLatch(20);
            CompletableFuture<RemoteException> failure = new CompletableFuture<>();
            Thread writer = Thread.ofVirtual()
                    .start(() -> failure.complete(failureOf(() -> {
                        try (RemoteFile file = lane.sftp().create(FILE)) {
                            byte[] piece = new byte[100_000];
                            for (long i = 0; i < 100_000; i++) {
                                file.write(i % 100 * piece.length, piece, 0, piece.length);
                                under.countDown();
                            }
                            file.finish(true);
                        }
                    })));
            under.await();
            first.close();

            assertThat(failure.get(30, TimeUnit.SECONDS).reason()).isEqualTo(Reason.LOST);
            writer.join();
            assertThat(lane.isOpen()).isFalse();
            assertThat(failureOf(() -> lane.sftp().lstat(FILE)).reason()).isEqualTo(Reason.LOST);
            try (LoopbackSite second = LoopbackSite.openSsh(temp.resolve("state"), temp.resolve("root"), port)) {
                assertThat(second.address()).isEqualTo(first.address());
                Lane fresh = lanes.next();
                assertThat(fresh).isNotSameAs(lane);
                assertThat(fresh.sftp().lstat(FILE)).isPresent();
                put(fresh.sftp(), FilePath.of("another"), 10);
            }
        }
    }

    @Test
    void aLinkThatGoesSilentIsNoticedWithinHalfAMinute() throws Exception {
        noticedWithinHalfAMinute(SilentRelay::fallSilent, sftp -> sftp.lstat(FILE));
    }

    /** The heartbeat cannot detect this: it waits behind the stuck write. */
    @Test
    void aLinkThatTakesNothingAnyMoreIsNoticedWithinHalfAMinute() throws Exception {
        noticedWithinHalfAMinute(SilentRelay::freeze, sftp -> put(sftp, FilePath.of("large"), 64 << 20));
    }

    /** To close one must not wait for what is stuck in it: nobody would look at the others meanwhile. */
    @Test
    void severalLinksThatTakeNothingAnyMoreAreNoticedWithinAMinute() throws Exception {
        try (LoopbackSite site = site();
                SilentRelay relay = new SilentRelay(site.address());
                Lanes lanes = Lanes.to(relay.address(), 3)) {
            // What eight channels have on its way does not fit into the buffers of a connection.
            lanes.want(3, 8);
            Set<Lane> all = new HashSet<>();
            await().atMost(Duration.ofMinutes(1)).until(() -> {
                all.add(lanes.next());
                return all.size() == 3 && all.stream().allMatch(lane -> lane.channels() == 8);
            });
            List<CompletableFuture<RemoteException>> failures = new ArrayList<>();
            CountDownLatch under = new CountDownLatch(24);
            for (Lane lane : all) {
                for (int number = 0; number < 8; number++) {
                    RemoteFile file = lane.sftp().create(FilePath.of("file" + failures.size()));
                    CompletableFuture<RemoteException> failure = new CompletableFuture<>();
                    failures.add(failure);
                    Thread.ofVirtual()
                            .start(() -> failure.complete(failureOf(() -> {
                                byte[] piece = new byte[32 << 10];
                                for (long at = 0; ; at++) {
                                    file.write(at % 100 * piece.length, piece, 0, piece.length);
                                    if (at == 100) {
                                        under.countDown();
                                    }
                                }
                            })));
                }
            }
            under.await();

            relay.freeze();

            for (CompletableFuture<RemoteException> failure : failures) {
                assertThat(failure.get(60, TimeUnit.SECONDS).reason()).isEqualTo(Reason.LOST);
            }
            await().atMost(Duration.ofMinutes(1)).until(() -> all.stream().noneMatch(Lane::isOpen));
        }
    }

    @Test
    void contentThatALinkDoesNotTakeIsNotHeldInMemory() throws Exception {
        try (LoopbackSite site = site();
                SilentRelay relay = new SilentRelay(site.address());
                Lanes lanes = Lanes.to(relay.address(), 1);
                RemoteFile file = lanes.next().sftp().create(FILE)) {
            relay.freeze();
            byte[] piece = new byte[16 << 10];
            AtomicLong taken = new AtomicLong();

            RemoteException lost = failureOf(() -> {
                for (; taken.get() < 64 << 20; taken.addAndGet(piece.length)) {
                    file.write(taken.get(), piece, 0, piece.length);
                }
            });

            assertThat(lost.reason()).isEqualTo(Reason.LOST);
            assertThat(taken.get()).isLessThan(8 << 20);
        }
    }

    private void noticedWithinHalfAMinute(Consumer<SilentRelay> fault, Request request) throws Exception {
        try (LoopbackSite site = site();
                SilentRelay relay = new SilentRelay(site.address());
                Lanes lanes = Lanes.to(relay.address(), 1)) {
            Lane lane = lanes.next();
            put(lane.sftp(), FILE, 10);
            fault.accept(relay);
            long before = System.nanoTime();

            assertThat(failureOf(() -> request.of(lane.sftp())).reason()).isEqualTo(Reason.LOST);
            assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(60));
        }
    }

    @Test
    void aWaitingCallerCanBeInterruptedAndTheLaneLivesOn() throws Exception {
        try (LoopbackSite site = site();
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Lane lane = lanes.next();
            CountDownLatch running = new CountDownLatch(1);
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            Thread caller = Thread.ofVirtual().start(() -> {
                try {
                    running.countDown();
                    lane.run("sleep 1000", new byte[0], 100, Duration.ofSeconds(900));
                } catch (InterruptedException e) {
                    interrupted.complete(true);
                } catch (RemoteException e) {
                    interrupted.completeExceptionally(e);
                }
            });
            running.await();
            caller.interrupt();

            assertThat(interrupted.get(10, TimeUnit.SECONDS)).isTrue();
            put(lane.sftp(), FILE, 10);
        }
    }

    @Test
    void aCommandThatDoesNotEndIsGivenUp() throws Exception {
        try (LoopbackSite site = site();
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Lane lane = lanes.next();
            assertThat(failureOf(() -> lane.run("sleep 1000", new byte[0], 100, Duration.ofMillis(300)))
                            .reason())
                    .isEqualTo(Reason.STUCK);
            CommandResult result =
                    lane.run("cat; echo oh >&2; exit 3", "dōzo".getBytes("UTF-8"), 100, Duration.ofSeconds(20));
            assertThat(result.exitStatus()).isEqualTo(3);
            assertThat(result.output().getBytes("ISO-8859-1")).isEqualTo("dōzo".getBytes("UTF-8"));
            assertThat(result.errors()).isEqualTo("oh\n");
        }
    }

    @Test
    void aFullFileSystemIsFull() throws Exception {
        try (Tmpfs small = new Tmpfs(temp.resolve("root"), "size=4m");
                LoopbackSite site = site();
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Sftp sftp = lanes.next().sftp();
            assertThat(sftp.space().orElseThrow().totalBytes()).isEqualTo(4 << 20);

            assertThat(failureOf(() -> put(sftp, FILE, 8 << 20)).reason()).isEqualTo(Reason.FULL);
            assertThat(SiteCheck.of(lanes.next()).usable()).isFalse();
            sftp.remove(FILE);
            put(sftp, FILE, 1 << 20);
        }
    }

    @Test
    void aFileSystemWithoutInodesIsFull() throws Exception {
        try (Tmpfs few = new Tmpfs(temp.resolve("root"), "size=4m,nr_inodes=5");
                LoopbackSite site = site();
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Sftp sftp = lanes.next().sftp();

            assertThat(failureOf(() -> {
                                for (int i = 0; i < 10; i++) {
                                    put(sftp, FilePath.of("f" + i), 1);
                                }
                            })
                            .reason())
                    .isEqualTo(Reason.FULL);
        }
    }

    @Test
    void aReadOnlyFileSystemIsReadOnly() throws Exception {
        try (Tmpfs sealed = new Tmpfs(temp.resolve("root"), "size=4m")) {
            Files.createDirectory(temp.resolve("root/folder"));
            Files.write(temp.resolve("root/folder/there"), new byte[3]);
            sealed.remount("ro");
            try (LoopbackSite site = site();
                    Lanes lanes = Lanes.to(site.address(), 1)) {
                Lane lane = lanes.next();
                FilePath there = FilePath.of("folder/there");

                assertThat(failureOf(() -> lane.sftp().create(FILE)).reason()).isEqualTo(Reason.READ_ONLY);
                SiteCheck check = SiteCheck.of(lane);
                assertThat(check.rootThere()).isTrue();
                assertThat(check.writable()).isFalse();
                assertThat(check.usable()).isFalse();
                assertThat(check.findings()).isNotEmpty();
                assertThat(check.digest().digests(lane, List.of(there), 1 << 20))
                        .isEqualTo(Map.of(there, Digest.ofContent(new byte[3])));
            }
        }
    }

    @Test
    void anAccountThatMayOnlyReadIsDenied() throws Exception {
        try (LoopbackSite site = site("ForceCommand internal-sftp -R");
                Lanes lanes = Lanes.to(site.address(), 1)) {
            assertThat(failureOf(() -> lanes.next().sftp().create(FILE)).reason())
                    .isEqualTo(Reason.PERMISSION_DENIED);
            assertThat(SiteCheck.of(lanes.next()).usable()).isFalse();
        }
    }

    @Test
    void aRootThatIsNotThereIsFound() throws Exception {
        try (LoopbackSite site = site()) {
            SiteAddress right = site.address();
            SiteAddress nowhere = new SiteAddress(
                    right.host(),
                    right.port(),
                    right.user(),
                    right.root() + "/nowhere",
                    right.identity(),
                    right.hostKey());
            try (Lanes lanes = Lanes.to(nowhere, 1)) {
                SiteCheck check = SiteCheck.of(lanes.next());
                assertThat(check.rootThere()).isFalse();
                assertThat(check.usable()).isFalse();
            }
        }
    }

    @Test
    void aDamagedFileHasAnotherDigest() throws Exception {
        try (LoopbackSite site = site();
                Lanes lanes = Lanes.to(site.address(), 1)) {
            Lane lane = lanes.next();
            put(lane.sftp(), FILE, 1000);
            Files.write(FILE.under(Path.of(site.address().root())), new byte[999]);
            for (RemoteDigest way : List.of(SiteCheck.of(lane).digest(), RemoteDigest.readBack())) {
                assertThat(way.digests(lane, List.of(FILE), 1 << 20))
                        .isEqualTo(Map.of(FILE, Digest.ofContent(new byte[999])));
            }
        }
    }

    @Test
    void addressesAreChecked() {
        Path key = Path.of("key");
        for (Callable<?> wrong : List.<Callable<?>>of(
                () -> new SiteAddress("", 22, "u", "/r", key, "ssh-ed25519 A"),
                () -> new SiteAddress("h", 0, "u", "/r", key, "ssh-ed25519 A"),
                () -> new SiteAddress("h", 22, "u", "r", key, "ssh-ed25519 A"),
                () -> new SiteAddress("h", 22, "u", "/r\n", key, "ssh-ed25519 A"),
                () -> new SiteAddress("h", 22, "u", "/r", key, "# none"))) {
            assertThatThrownBy(wrong::call).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
