package dozo.copy;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.EvilSite;
import dozo.remote.Lanes;
import dozo.remote.RemoteFacts;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A copy from a site that lists folders without an end. */
@Timeout(300)
class EndlessSourceTest {

    @TempDir
    Path temp;

    @Test
    void aTreeOfEndlessFoldersIsCutOff() throws Exception {
        Found top = new Found(
                FilePath.ROOT,
                FilePath.of("top"),
                FilePath.ROOT,
                new RemoteFacts(RemoteFacts.Kind.DIRECTORY, 0, 0755, 0, 0, 0));
        RemoteTree.Visitor nowhere = new RemoteTree.Visitor() {
            @Override
            public void found(Found found) {}

            @Override
            public void problem(FilePath path, Problem problem, String message) {}
        };
        try (EvilSite site = EvilSite.answering(temp, EvilSite.listing(EvilSite::thousandFolders));
                Lanes lanes = Lanes.to(site.address(), 1)) {
            RemoteTree tree = new RemoteTree(lanes, Filter.ALL, folder -> false, nowhere);

            assertThatThrownBy(() -> tree.walk(top)).hasMessageContaining("folders at the site wait to be listed");
        }
    }
}
