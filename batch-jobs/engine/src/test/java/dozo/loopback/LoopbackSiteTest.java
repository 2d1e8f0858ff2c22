package dozo.loopback;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** OpenSSH is started only for users whom it admits. */
class LoopbackSiteTest {

    /** An sshd refuses some of more. */
    private static final int CONNECTIONS = 8;

    /** Less than the two minutes after which sshd closes a connection that does not log in. */
    private static final int ENDS_MILLIS = 30_000;

    @TempDir
    Path folder;

    @Test
    void theUserOfAServiceCannotLogIn() throws Exception {
        Path passwd = Files.writeString(folder.resolve("passwd"), """
                root:x:0:0:root:/root:/bin/bash
                dozo:x:995:995:Dozo backup:/var/lib/dozo:/usr/sbin/nologin
                off:x:996:996::/:/bin/false
                """);

        assertThat(LoopbackSite.canLogIn(passwd, "root")).isTrue();
        assertThat(LoopbackSite.canLogIn(passwd, "dozo")).isFalse();
        assertThat(LoopbackSite.canLogIn(passwd, "off")).isFalse();
        assertThat(LoopbackSite.canLogIn(passwd, "of")).isTrue();
        assertThat(LoopbackSite.canLogIn(passwd, "from-a-directory")).isTrue();
        assertThat(LoopbackSite.canLogIn(folder.resolve("missing"), "root")).isTrue();
    }

    /** A connection that its server has just accepted has a process that the server starts. */
    @Test
    void noConnectionOutlivesItsServer() throws Exception {
        for (int i = 0; i < 10; i++) {
            List<Socket> sockets = new ArrayList<>();
            try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), folder.resolve("dr"), 0)) {
                for (int j = 0; j < CONNECTIONS; j++) {
                    sockets.add(new Socket(site.address().host(), site.address().port()));
                }
            }
            for (Socket socket : sockets) {
                try (socket) {
                    socket.setSoTimeout(ENDS_MILLIS);
                    assertThat(endOf(socket)).isTrue();
                }
            }
        }
    }

    private static boolean endOf(Socket socket) throws IOException {
        try {
            socket.getInputStream().readAllBytes();
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException reset) {
            return true;
        }
    }
}
