package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.FilePath;
import dozo.file.Spool;
import dozo.loopback.LoopbackSite;
import dozo.remote.RemoteException.Reason;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A file that is read whole has a limit before any byte of it comes. */
@Timeout(60)
class SpooledContentIT {

    private static final FilePath FILE = FilePath.of("file");

    @TempDir
    Path temp;

    private Path file;
    private LoopbackSite site;
    private Lanes lanes;

    @BeforeEach
    void start() throws Exception {
        Path root = Files.createDirectory(temp.resolve("dr"));
        file = root.resolve("file");
        site = LoopbackSite.openSsh(temp.resolve("sshd"), root, 0);
        lanes = Lanes.to(site.address(), 1);
    }

    @AfterEach
    void stop() {
        lanes.close();
        site.close();
    }

    @Test
    void whatIsWithinTheLimitComesWhole() throws Exception {
        Files.writeString(file, "ten bytes.");

        try (Spool content = lanes.next().sftp().content(FILE, 10)) {
            assertThat(content.read()).hasContent("ten bytes.");
        }
    }

    @Test
    void whatIsLargerThanAskedForIsRefused() throws Exception {
        Files.writeString(file, "ten bytes.");

        assertThatThrownBy(() -> lanes.next().sftp().content(FILE, 9))
                .hasMessageStartingWith("file at the site has 10 bytes; expected at most 9")
                .isInstanceOfSatisfying(
                        RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.REFUSED));
    }

    @Test
    void whatHasNoRoomHereIsRefusedUnread() throws Exception {
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(1L << 42);
        }

        assertThatThrownBy(() -> lanes.next().sftp().content(FILE, Long.MAX_VALUE))
                .hasMessageStartingWith("file at the site has 4398046511104 bytes; expected at most ")
                .hasMessageEndingWith("half of the free space for temporary files");
    }
}
