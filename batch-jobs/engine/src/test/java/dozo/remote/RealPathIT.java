package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.loopback.LoopbackSite;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A site resolves the login's home folder. */
class RealPathIT {

    @TempDir
    Path folder;

    @Test
    void theHomeFolderHasAnAbsolutePath() throws Exception {
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("root"), 0);
                Lanes lanes = Lanes.to(site.address(), 1)) {
            byte[] home = lanes.next().sftp().realPath(new byte[] {'.'});

            assertThat(Files.isDirectory(Path.of(new String(home, StandardCharsets.UTF_8))))
                    .isTrue();
            assertThat(home[0]).isEqualTo((byte) '/');
        }
    }
}
