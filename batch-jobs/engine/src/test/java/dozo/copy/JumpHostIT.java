package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SilentRelay;
import dozo.remote.SiteAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Copies to a site behind a jump host, both OpenSSH servers. */
@Timeout(300)
class JumpHostIT extends CopyTest {

    private static final FilePath TO = FilePath.of("to");

    private Path source;
    private LoopbackSite site;

    @BeforeEach
    void startSite() throws Exception {
        source = Files.createDirectory(folder.resolve("source"));
        site = openSsh();
    }

    @AfterEach
    void stopSite() {
        site.close();
    }

    @Test
    void allOfACopyGoesThroughTheJumpHost() throws Exception {
        for (int i = 0; i < 30; i++) {
            Trees.write(source.resolve("small-" + i), 50_000 + i);
        }
        Trees.write(source.resolve("large"), 70L << 20);
        try (LoopbackSite jump = jump("PermitOpen 127.0.0.1:" + site.address().port());
                SilentRelay counted = new SilentRelay(jump.address())) {
            Progress end = run(to(site.address().behind(counted.address()), 3));

            assertThat(findings).isEmpty();
            assertThat(end.complete()).isTrue();
            assertThat(counted.connections()).isEqualTo(3);
        }
        Trees.assertSame(source, root.resolve("to"));
    }

    /** Only the jump host can resolve the site's name. */
    @Test
    void theJumpHostLooksUpTheSitesName() throws Exception {
        Trees.write(source.resolve("file"), 1000);
        SiteAddress there = site.address();
        SiteAddress named = new SiteAddress(
                "localhost", there.port(), there.user(), there.root(), there.identity(), there.hostKey());
        try (LoopbackSite jump = jump("PermitOpen localhost:" + there.port())) {
            assertThat(run(to(named.behind(jump.address()), 1)).complete()).isTrue();
        }
    }

    @Test
    void aJumpHostWithAnotherKeyIsRefusedBeforeAnythingIsAskedOfIt() throws Exception {
        try (LoopbackSite jump = jump()) {
            SiteAddress right = jump.address();
            SiteAddress wrong = new SiteAddress(
                    right.host(),
                    right.port(),
                    right.user(),
                    "/",
                    right.identity(),
                    site.address().hostKey());

            assertThat(failure(site.address().behind(wrong)))
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.HOST_KEY))
                    .hasMessageStartingWith("the host key of " + wrong + " differs");
        }
    }

    @Test
    void aSiteWithAnotherKeyBehindTheJumpHostIsRefused() throws Exception {
        try (LoopbackSite jump = jump()) {
            SiteAddress right = site.address();
            SiteAddress wrong = new SiteAddress(
                    right.host(),
                    right.port(),
                    right.user(),
                    right.root(),
                    right.identity(),
                    jump.address().hostKey());

            assertThat(failure(wrong.behind(jump.address())))
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.HOST_KEY))
                    .hasMessageStartingWith("the host key of " + right + " differs");
        }
    }

    @Test
    void aJumpHostThatPassesNothingOnSaysWhoItIs() throws Exception {
        try (LoopbackSite jump = jump("AllowTcpForwarding no")) {
            assertThat(failure(site.address().behind(jump.address())))
                    .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.UNREACHABLE))
                    .hasMessageStartingWith(jump.address() + " does not forward connections to " + site.address());
        }
    }

    @Test
    void aJumpHostThatIsDownIsNotTakenForTheSite() throws Exception {
        SiteAddress gone;
        try (LoopbackSite jump = jump()) {
            gone = jump.address();
        }
        assertThat(failure(site.address().behind(gone)))
                .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.UNREACHABLE))
                .hasMessageStartingWith(gone + " does not answer");
    }

    @Test
    void aConnectionThatTheJumpHostLosesIsMadeAnew() throws Exception {
        Trees.write(source.resolve("large"), 200L << 20);
        try (LoopbackSite jump = jump();
                SilentRelay way = new SilentRelay(jump.address())) {
            Copy copy = new CopyToSite(
                    site.address().behind(way.address()),
                    List.of(source),
                    TO,
                    false,
                    new Copy.Options(2, 20_000_000, false));
            CompletableFuture<Progress> running = CompletableFuture.supplyAsync(() -> {
                try {
                    return run(copy);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            Awaitility.await()
                    .atMost(Duration.ofMinutes(5))
                    .until(() -> copy.progress().bytesMoved() > 20_000_000);
            way.cutWhatIsConnected();

            assertThat(running.get(120, TimeUnit.SECONDS).complete()).isTrue();
            assertThat(way.connections()).isGreaterThan(2);
        }
        Trees.assertSame(source, root.resolve("to"));
    }

    private LoopbackSite jump(String... configLines) throws Exception {
        return LoopbackSite.openSsh(
                folder.resolve("jump"), Files.createDirectories(folder.resolve("jump-root")), 0, configLines);
    }

    private Copy to(SiteAddress address, int lanes) {
        return new CopyToSite(address, List.of(source), TO, false, lanes(lanes));
    }

    private RemoteException failure(SiteAddress address) {
        return Optional.ofNullable(catchThrowableOfType(RemoteException.class, () -> run(to(address, 1))))
                .orElseThrow();
    }
}
