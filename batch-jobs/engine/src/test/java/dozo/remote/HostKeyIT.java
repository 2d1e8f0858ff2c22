package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.loopback.LoopbackSite;
import dozo.loopback.Ports;
import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The key that a host presents, for a person to compare. */
class HostKeyIT {

    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    @TempDir
    Path temp;

    @Test
    void aHostPresentsTheKeyThatIsPinnedLater() throws Exception {
        try (LoopbackSite site = LoopbackSite.openSsh(temp.resolve("state"), temp.resolve("root"), 0)) {
            SiteAddress address = site.address();

            HostKey presented = HostKey.presentedBy(address.host(), address.port());

            assertThat(HostKey.all(address.hostKey())).containsExactly(presented);
            assertThat(presented.kind()).isEqualTo("ssh-ed25519");
            assertThat(presented.fingerprint()).startsWith("SHA256:");
        }
    }

    @Test
    void theFingerprintIsTheOneThatSshKeygenPrints() {
        String line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";

        assertThat(new HostKey(line).fingerprint()).isEqualTo("SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU");
        assertThat(new HostKey("ssh-ed25519 what").fingerprint()).isEmpty();
        assertThat(new HostKey("ssh-ed25519").fingerprint()).isEmpty();
        assertThat(HostKey.all("# a comment\n\n" + line + "\n")).isEqualTo(List.of(new HostKey(line)));
    }

    @Test
    void aHostThatDoesNotListenHasNone() throws Exception {
        int port = Ports.free();

        assertUnreachable(() -> HostKey.presentedBy("127.0.0.1", port));
        assertUnreachable(() -> HostKey.presentedBy("nowhere.invalid", 22));
    }

    @Test
    void aServerOfAnotherKindHasNone() throws Exception {
        answering(
                "HTTP/1.1 400 Bad Request\r\n\r\n",
                port -> assertUnreachable(() -> HostKey.presentedBy("127.0.0.1", port)));
        answering("", port -> assertUnreachable(() -> HostKey.presentedBy("127.0.0.1", port)));
    }

    /** Runs a server that says this to everybody, and hangs up. */
    private static void answering(String text, Consumer<Integer> test) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, LOOPBACK)) {
            Thread.ofVirtual().start(() -> {
                while (!server.isClosed()) {
                    try (Socket caller = server.accept()) {
                        caller.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
                    } catch (IOException closed) {
                        return;
                    }
                }
            });
            test.accept(server.getLocalPort());
        }
    }

    private static void assertUnreachable(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        RemoteException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Reason.UNREACHABLE));
    }
}
