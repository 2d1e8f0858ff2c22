package dozo.loopback;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** OpenSSH is started only for users whom it admits. */
class LoopbackSiteTest {

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
}
