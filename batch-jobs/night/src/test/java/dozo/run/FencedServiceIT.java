package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.db.ActiveService;
import dozo.db.ActiveService.Holder;
import dozo.file.FilePath;
import dozo.registry.SiteLanes;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A service from which another one has taken over changes nothing at a site, also outside of runs (ADR 0081). */
class FencedServiceIT extends NightAtSite {

    private final ActiveService active = active();

    private static ActiveService active() {
        ActiveService active = new ActiveService("one", true);
        active.begin(new Holder("one", "", Instant.EPOCH, 1), System.nanoTime(), Duration.ofHours(1));
        return active;
    }

    /** Returns the names in the folder of temporary files. */
    private List<String> incoming() throws IOException {
        Path folder = root.resolve(".dozo/incoming");
        return Files.exists(folder) ? Trees.names(folder) : List.of();
    }

    @Test
    void openLanesSendNothingMore() throws Exception {
        try (Lanes lanes = new SiteLanes(active).to(night.site(), 1)) {
            Lane lane = lanes.next();
            lane.sftp().mkdirs(FilePath.of("before"));

            active.lose(new Holder("two", "", Instant.EPOCH, 2));

            assertThatThrownBy(() -> lane.sftp().mkdirs(FilePath.of("after"))).isInstanceOf(RemoteException.class);
        }
        assertThat(root.resolve("before")).exists();
        assertThat(root.resolve("after")).doesNotExist();
    }

    /** The files that remain are the proof: not even they were removed. Any night sweeps them later. */
    @Test
    void aMeasurementEndsInTheMiddle() throws Exception {
        try (Night service = Night.service(database, active)) {
            service.get(SiteMeasuring.class).requireProcessorShare(0);
            CompletableFuture<Void> measuring = CompletableFuture.runAsync(() -> {
                try {
                    var _ = service.get(SiteMeasuring.class).measure(night.site(), "test");
                } catch (RemoteException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            Night.until(() -> incoming().stream().anyMatch(name -> name.contains("tune-")));

            active.lose(new Holder("two", "", Instant.EPOCH, 2));

            Night.until(measuring::isDone);
            assertThat(measuring).isCompletedExceptionally();
            assertThat(incoming()).anyMatch(name -> name.contains("tune-"));
            assertThat(night.get(SiteTunings.class).of(night.site().id())).isEmpty();
        }
    }
}
