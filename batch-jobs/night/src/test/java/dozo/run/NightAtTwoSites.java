package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.loopback.LoopbackSite;
import dozo.registry.Sites;
import dozo.run.Runs.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests of replications: from the site of the nights to a second one. */
abstract class NightAtTwoSites extends NightAtSite {

    static final String WAIT = "dozo.transfer.outage=60s";

    Path secondRoot;
    LoopbackSite second;

    /** The source, which is moved here after the first night. */
    Path kept;

    NightAtTwoSites() {
        super(WAIT);
    }

    /** Starts the second site's sshd. */
    LoopbackSite serveSecond(Path state, Path at) throws IOException {
        return LoopbackSite.openSsh(state, at, 0);
    }

    @BeforeEach
    void openSecond() throws IOException {
        secondRoot = Files.createDirectory(folder.resolve("second"));
        second = serveSecond(folder.resolve("sshd2"), secondRoot);
        night.get(Sites.class).save("second", second.address(), "test");
        kept = folder.resolve("kept");
    }

    @AfterEach
    void closeSecond() {
        second.close();
    }

    Run start(String from, String to, String project, String experiment, boolean sourceGone) {
        return night.operations()
                .replicate(new ReplicationRequest(from, to, project, experiment, sourceGone), "operator");
    }

    Run replicate(String experiment) {
        Run run = night.await(start("dr", "second", null, experiment, false));
        night.awaitIdle();
        return run;
    }

    /** Registers the source, has it copied to the first site, and moves it away. */
    void safeAtFirst() throws IOException {
        night.register("E1", source);
        night.complete();
        Files.move(source, kept);
    }

    void assertSameAtSecond() throws Exception {
        NightlyBackupIT.assertSame(kept, secondRoot.resolve("p/E1/data"));
        NightlyBackupIT.assertChecks(secondRoot.resolve("p/E1"));
        assertThat(secondRoot.resolve(".dozo/incoming/p/E1")).doesNotExist();
    }
}
