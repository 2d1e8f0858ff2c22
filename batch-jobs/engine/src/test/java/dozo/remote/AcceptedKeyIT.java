package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.loopback.LoopbackSite;
import dozo.remote.RemoteException.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** While a key is being replaced, sshd lets us in by either, and we know by which. */
class AcceptedKeyIT {

    @TempDir
    Path folder;

    @AutoClose
    private LoopbackSite site;

    private Path key;
    private Path former;
    private Path authorized;

    @BeforeEach
    void replace() throws Exception {
        site = LoopbackSite.openSsh(folder.resolve("sshd"), folder.resolve("root"), 0, "MaxAuthTries 3");
        key = site.address().identity();
        former = Identity.former(key);
        authorized = key.resolveSibling("authorized_keys");
        Files.move(key, former);
        Identity.create(key, "a test");
    }

    private void accept(Path... keys) throws Exception {
        StringBuilder lines = new StringBuilder();
        for (Path each : keys) {
            lines.append(String.join("\n", Identity.publicKeys(each))).append('\n');
        }
        Files.writeString(authorized, lines);
    }

    @Test
    void theFormerKeyIsAcceptedUntilTheSiteHasThePresentOne() throws Exception {
        assertThat(AcceptedKey.at(site.address())).isEqualTo(AcceptedKey.FORMER);
        try (Lanes lanes = Lanes.to(site.address(), 1)) {
            assertThat(SiteCheck.of(lanes.next()).usable()).isTrue();
        }
        accept(former, key);
        assertThat(AcceptedKey.at(site.address())).isEqualTo(AcceptedKey.PRESENT);
        accept(key);
        assertThat(AcceptedKey.at(site.address())).isEqualTo(AcceptedKey.PRESENT);
        Files.delete(former);
        assertThat(AcceptedKey.at(site.address())).isEqualTo(AcceptedKey.PRESENT);
    }

    @Test
    void soIsThatOfAHostOnTheWay() throws Exception {
        accept(key);
        try (LoopbackSite jump = LoopbackSite.openSsh(folder.resolve("jump"), folder.resolve("jump-root"), 0)) {
            Path other = jump.address().identity();
            Files.move(other, Identity.former(other));
            Identity.create(other, "a test");

            assertThat(AcceptedKey.at(site.address().behind(jump.address()))).isEqualTo(AcceptedKey.FORMER);
        }
    }

    @Test
    void whoAcceptsNeitherIsToldThePresentOne() throws Exception {
        Files.writeString(authorized, "");

        assertThatThrownBy(() -> AcceptedKey.at(site.address()))
                .isInstanceOfSatisfying(
                        RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.LOGIN_REFUSED))
                .hasMessageContaining(Identity.publicKeys(key).getFirst())
                .hasMessageNotContaining(Identity.publicKeys(former).getFirst());
    }

    @Test
    void aFormerKeyThatOthersCanReadOrThatIsNoneIsNotOffered() throws Exception {
        Files.setPosixFilePermissions(former, PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> AcceptedKey.at(site.address())).isInstanceOf(RemoteException.class);
        Files.setPosixFilePermissions(former, PosixFilePermissions.fromString("rw-------"));
        assertThat(AcceptedKey.at(site.address())).isEqualTo(AcceptedKey.FORMER);
        accept(key);
        Files.writeString(former, "no key");
        assertThat(AcceptedKey.at(site.address())).isEqualTo(AcceptedKey.PRESENT);
    }
}
