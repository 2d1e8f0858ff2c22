package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.GuardedSite;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** At a hardened site a copy adds files and replaces none (ADR 0068). */
@Timeout(300)
class HardenedCopyIT extends CopyTest {

    @Test
    void whatIsNewArrivesAndWhatWouldReplaceIsRefusedByName() throws Exception {
        Path source = Files.createDirectories(folder.resolve("source/sub")).getParent();
        Files.writeString(source.resolve("sub/first"), "first");
        Files.writeString(source.resolve("changed"), "before");
        Files.createSymbolicLink(source.resolve("link"), Path.of("sub/first"));
        try (LoopbackSite site = GuardedSite.start(folder.resolve("sshd"), root)) {
            assertThat(copy(site, source).complete()).isTrue();
            assertThat(findings).isEmpty();
            Trees.assertSame(source, root.resolve("to"));

            Files.writeString(source.resolve("changed"), "afterwards");
            Files.writeString(source.resolve("sub/second"), "second");
            assertThat(copy(site, source).complete()).isFalse();
        }
        assertThat(findings).singleElement().asString().contains("changed");
        assertThat(root.resolve("to/changed")).hasContent("before");
        assertThat(root.resolve("to/sub/second")).hasContent("second");
    }

    private Progress copy(LoopbackSite site, Path source) throws Exception {
        return run(new CopyToSite(site.address(), List.of(source), FilePath.of("to"), false, lanes(1)));
    }
}
