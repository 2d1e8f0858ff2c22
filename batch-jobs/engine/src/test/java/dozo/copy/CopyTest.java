package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Common parts of copy tests: a site's root, a folder for the rest, and the findings of the copies. */
abstract class CopyTest {

    @TempDir
    Path folder;

    Path root;
    final List<Finding> findings = new CopyOnWriteArrayList<>();

    @BeforeEach
    void makeRoot() throws IOException {
        folder = folder.toRealPath();
        root = Files.createDirectory(folder.resolve("dr"));
    }

    LoopbackSite openSsh(String... configLines) throws IOException {
        return LoopbackSite.openSsh(folder.resolve("sshd"), root, 0, configLines);
    }

    static Options lanes(int lanes) {
        return new Options(lanes, 0, false);
    }

    void assertFindings(String... pathsAndProblems) {
        assertThat(findings)
                .extracting(finding -> finding.path() + " " + finding.problem())
                .containsExactlyInAnyOrder(pathsAndProblems);
    }

    /** Runs a copy to its end, and closes it. */
    Progress run(Copy copy) throws IOException, InterruptedException {
        try (copy) {
            return copy.run(findings::add);
        }
    }
}
