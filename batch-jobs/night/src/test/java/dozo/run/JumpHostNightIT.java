package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.loopback.LoopbackSite;
import dozo.remote.SilentRelay;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A night whose site is behind a jump host. */
class JumpHostNightIT {

    @TempDir
    Path folder;

    @Test
    void everyConnectionOfANightGoesThroughTheJumpHost() throws Exception {
        Path source = Files.createDirectory(folder.resolve("source"));
        Night.writeMany(source, 30);
        Path root = Files.createDirectory(folder.resolve("dr"));
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("site"), root, 0);
                LoopbackSite jump = LoopbackSite.openSsh(
                        folder.resolve("jump"),
                        Files.createDirectory(folder.resolve("jump-root")),
                        0,
                        "PermitOpen 127.0.0.1:" + site.address().port());
                SilentRelay way = new SilentRelay(jump.address());
                Night night = Night.on(site.address().behind(way.address()))) {
            night.register("E1", source);

            night.complete();

            NightlyBackupIT.assertSame(source, root.resolve("p/E1/data"));
            assertThat(way.connections()).isPositive();
        }
    }
}
