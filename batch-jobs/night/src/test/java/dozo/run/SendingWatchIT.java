package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.plan.CostModel;
import dozo.run.Paces.Pace;
import dozo.run.Runs.Run;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run that has sent something updates its site's cost model. */
class SendingWatchIT {

    private static final String MEASUREMENTS = "select count(*) from cost_model";

    @TempDir
    Path folder;

    @Test
    void aRunThatSentTeachesAndOneThatSentNothingDoesNot() throws Exception {
        Night.write(folder.resolve("source"), Map.of("a", "x".repeat(1_000), "sub/b", "y".repeat(3_000_000)));
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
                Night night = Night.on(site.address(), "dozo.transfer.learn-from=0s")) {
            night.register("E1", folder.resolve("source"));

            Run first = night.run();

            assertThat(night.count(
                            MEASUREMENTS + " where bytes = 3001000 and entries = 3 and lanes >= 1 and seconds > 0"))
                    .as("two files and a folder")
                    .isEqualTo(1);
            assertThat(night.get(CostModels.class).of(1)).isNotEqualTo(CostModel.DEFAULT);
            assertThat(moved(night, first)).as("its speed is kept").isEqualTo("3001000 3");
            assertThat(night.get(Nights.class).proven(Sight.EVERYTHING, Instant.EPOCH))
                    .extracting(Nights.Proven::bytes, Nights.Proven::entries)
                    .containsExactly(tuple(3_001_000L, 3L));

            Run second = night.run();

            assertThat(moved(night, second)).isEqualTo("0 0");

            assertThat(night.count(MEASUREMENTS)).isEqualTo(1);
        }
    }

    private static String moved(Night night, Run run) {
        List<Pace> paces = night.get(Paces.class).of(run.id());
        return paces.stream().mapToLong(Pace::bytes).sum() + " "
                + paces.stream().mapToLong(Pace::entries).sum();
    }

    @Test
    void aShortRunTeachesNothing() throws Exception {
        Night.write(folder.resolve("source"), Map.of("a", "x"));
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("keys"), folder.resolve("dr"), 0);
                Night night = Night.on(site.address(), "dozo.transfer.learn-from=1d")) {
            night.register("E1", folder.resolve("source"));

            night.run();

            assertThat(night.count(MEASUREMENTS)).isZero();
            assertThat(night.get(CostModels.class).of(1)).isEqualTo(CostModel.DEFAULT);
        }
    }
}
