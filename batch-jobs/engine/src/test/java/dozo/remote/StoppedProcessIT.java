package dozo.remote;

import static org.awaitility.Awaitility.await;

import dozo.loopback.LoopbackSite;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that was stopped for a while, as with a suspended machine, keeps its connections. */
class StoppedProcessIT {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    /** More than the time in which a dead link is noticed. */
    private static final Duration STOPPED = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    @Test
    void aLaneLivesOnAfterItsProcessWasStopped() throws Exception {
        Path opened = folder.resolve("opened");
        Path released = folder.resolve("released");
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), folder.resolve("root"), 0);
                ChildProcess child = new ChildProcess(
                        StoppedProcessIT.class,
                        64,
                        folder.resolve("child.log"),
                        site.address(),
                        opened.toString(),
                        released.toString())) {
            await().atMost(LIMIT).until(() -> Files.exists(opened) || !child.isAlive());
            child.assertAlive();
            child.signal("STOP");
            await().pollDelay(STOPPED).atMost(LIMIT).until(() -> true);
            Files.createFile(released);
            child.signal("CONT");

            child.assertEndsWell(LIMIT);
        }
    }

    /** Opens a lane, and ends well if it is still open some time after the release. */
    public static void main(String[] all) throws Exception {
        String[] files = ChildProcess.arguments(all);
        try (Lanes lanes = Lanes.to(ChildProcess.site(all), 1)) {
            Lane lane = lanes.next();
            Files.createFile(Path.of(files[0]));
            await().atMost(LIMIT.multipliedBy(2)).until(() -> Files.exists(Path.of(files[1])));
            await().during(Duration.ofSeconds(2)).atMost(Duration.ofSeconds(4)).until(lane::isOpen);
        }
    }
}
