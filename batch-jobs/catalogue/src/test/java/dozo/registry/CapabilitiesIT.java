package dozo.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.LedgerEntry;
import dozo.loopback.LoopbackSite;
import dozo.registry.Capabilities.Capability;
import dozo.registry.Capacity.Outlook;
import dozo.registry.Sites.Site;
import dozo.remote.GuardedSite;
import dozo.remote.KeyPowers.Power;
import dozo.remote.Lanes;
import dozo.remote.SiteCheck;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The capabilities of a site are stored, and their changes reported: a real sshd that first has a shell and then has
 * none.
 */
@Timeout(300)
class CapabilitiesIT {

    private static final Instant FIRST = Instant.parse("2026-10-01T12:00:00Z");

    @TempDir
    Path temp;

    private final JdbcClient jdbc = JdbcClient.create(TestDatabase.fresh());
    private Instant now = FIRST;
    private final Ledger ledger = new Ledger(jdbc, () -> now);
    private final Capacities capacities = new Capacities(jdbc, () -> now);
    private final Capabilities capabilities = new Capabilities(jdbc, ledger, capacities, () -> now);

    private LoopbackSite withShell;
    private LoopbackSite sftpOnly;
    private Site site;

    @BeforeEach
    void startSites() throws Exception {
        Path root = Files.createDirectory(temp.resolve("root"));
        withShell = LoopbackSite.openSsh(temp.resolve("with"), root, 0);
        sftpOnly = LoopbackSite.openSsh(temp.resolve("without"), root, 0, "ForceCommand internal-sftp");
        site = new Sites(jdbc, ledger, () -> now).save("dr", withShell.address(), "test");
    }

    @AfterEach
    void stopSites() {
        withShell.close();
        sftpOnly.close();
    }

    @Test
    void nothingIsKnownBeforeALook() {
        assertThat(capabilities.of(site.id())).isEmpty();
    }

    @Test
    void aSiteThatNoLongerResistsAStolenKeyIsNews() throws Exception {
        try (LoopbackSite guarded = GuardedSite.start(temp.resolve("guarded"), temp.resolve("root"))) {
            assertThat(keep(guarded)).isEmpty();
        }
        Capability guarded = capabilities.of(site.id()).orElseThrow();
        assertThat(guarded.keyCould()).containsExactly(Power.READ, Power.ADD);
        assertThat(guarded.keyCouldNot()).containsExactly(Power.CHANGE, Power.RENAME, Power.REPLACE, Power.DELETE);
        assertThat(guarded.keyPowers().unknown()).isEmpty();
        assertThat(guarded.linksFiles()).isTrue();

        assertThat(keep(withShell)).anyMatch(lost -> lost.contains("no longer protected from a stolen key"));
        assertThat(capabilities.of(site.id()).orElseThrow().keyCouldNot()).isEmpty();
    }

    @Test
    void aSecondLookThatFindsTheSameIsNoNews() throws Exception {
        assertThat(keep(withShell)).isEmpty();
        now = FIRST.plus(Duration.ofDays(1));
        assertThat(keep(withShell)).isEmpty();

        Capability known = capabilities.of(site.id()).orElseThrow();
        assertThat(known.firstSeenAt()).isEqualTo(FIRST);
        assertThat(known.lastSeenAt()).isEqualTo(now);
        assertThat(known.digest()).startsWith("exec ");
        assertThat(known.digestBytesPerSecond()).isPositive();
        assertThat(known.unpacksTar()).isTrue();
        assertThat(known.linksFiles()).isTrue();
        assertThat(known.extensions()).contains("limits@openssh.com").isSorted();
        assertThat(known.clockAheadSeconds()).isBetween(-5L, 5L);
        assertThat(told()).hasSize(1);
    }

    @Test
    void aSiteThatLosesItsShellIsNews() throws Exception {
        keep(withShell);
        now = FIRST.plus(Duration.ofDays(1));

        assertThat(keep(sftpOnly))
                .anySatisfy(lost -> assertThat(lost)
                        .startsWith("digest method changed from exec ")
                        .endsWith(" to read-back"))
                .contains("`sync -f` no longer works");
        Capability known = capabilities.of(site.id()).orElseThrow();
        assertThat(known.digest()).isEqualTo("read-back");
        assertThat(known.digestBytesPerSecond()).isPositive();
        assertThat(known.unpacksTar()).isFalse();
        assertThat(known.cacheTool()).isNull();
        assertThat(known.firstSeenAt()).isEqualTo(now);
        assertThat(told().getLast().detail()).contains("digests by exec", "digests by read-back");

        assertThat(keep(sftpOnly)).as("said once").isEmpty();
        assertThat(keep(withShell)).as("what comes back is no loss").isEmpty();
        assertThat(told()).as("but it is in the ledger").hasSize(3);
    }

    @Test
    void aSiteThatCannotBeUsedChangesNothingThatIsKnown() throws Exception {
        keep(withShell);
        Files.delete(temp.resolve("root/.dozo/incoming"));
        Files.delete(temp.resolve("root/.dozo"));
        Files.delete(temp.resolve("root"));

        assertThat(keep(withShell)).isEmpty();
        assertThat(capabilities.of(site.id()).orElseThrow().digest()).startsWith("exec ");
    }

    @Test
    void everyLookTellsOfTheRoom() throws Exception {
        assertThat(capacities.of(site.id())).isEmpty();
        keep(withShell);

        Capacity known = capacities.of(site.id()).orElseThrow();
        assertThat(known.seenAt()).isEqualTo(FIRST);
        assertThat(known.freeBytes()).isPositive().isLessThan(known.totalBytes());
        assertThat(known.outlook()).isEqualTo(Outlook.TOO_LITTLE_KNOWN);
    }

    private List<String> keep(LoopbackSite found) throws Exception {
        try (Lanes lanes = Lanes.to(found.address(), 1)) {
            return capabilities.keep(site, SiteCheck.of(lanes.next()), "test");
        }
    }

    private List<LedgerEntry> told() {
        return ledger.after(0, 100).stream()
                .filter(row -> row.action().equals("site.capabilities"))
                .toList();
    }
}
