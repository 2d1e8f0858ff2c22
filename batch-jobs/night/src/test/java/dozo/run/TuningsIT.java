package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.loopback.LoopbackSite;
import dozo.remote.TuningDecision;
import dozo.remote.TuningReason;
import dozo.remote.TuningStart;
import dozo.run.Runs.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run keeps why its lanes changed, and the next one to the site begins with the rate that was measured. */
class TuningsIT {

    private static final Instant NIGHT = Instant.parse("2026-11-01T20:00:00.123456Z");

    @TempDir
    Path folder;

    @Test
    void aRunKeepsItsDecisionsAndTheNextOneBeginsWithItsRate() throws Exception {
        try (LoopbackSite site = site();
                Night night = Night.on(site.address())) {
            Path source = Files.createDirectory(folder.resolve("E1"));
            night.register("E1", source);
            Night.write(source, Map.of("a", "1"));
            Run first = night.complete();
            assertThat(decisions(night, first).getFirst().reason()).isEqualTo(TuningReason.ASSUMED_RATE);

            night.get(Tunings.class).add(first.id(), List.of(decision(0, 4e8, TuningReason.ENOUGH)));
            Night.write(source, Map.of("b", "2"));
            Run second = night.complete();

            TuningDecision begun = decisions(night, second).getFirst();
            assertThat(begun.reason()).isEqualTo(TuningReason.EARLIER_RATE);
            assertThat(begun.bytesPerSecond()).isEqualTo(4e8);
        }
    }

    @Test
    void aFixedNumberOfLanesIsNoDecision() throws Exception {
        try (LoopbackSite site = site();
                Night night = Night.on(site.address(), "dozo.transfer.lanes=2")) {
            Path source = Files.createDirectory(folder.resolve("E1"));
            night.register("E1", source);
            Night.write(source, Map.of("a", "1"));
            assertThat(decisions(night, night.complete())).isEmpty();
        }
    }

    @Test
    void theHighestRateOfTheLatestRunsCounts() throws Exception {
        try (LoopbackSite site = site();
                Night night = Night.on(site.address())) {
            Tunings tunings = night.get(Tunings.class);
            int dr = night.site().id();
            assertThat(tunings.start(dr)).isEqualTo(new TuningStart.Unknown());

            run(night, 1);
            tunings.add(
                    1,
                    List.of(decision(0, null, TuningReason.ASSUMED_RATE), decision(1, 8e8, TuningReason.EARLIER_RATE)));
            assertThat(tunings.start(dr)).as("nothing was measured").isEqualTo(new TuningStart.Unknown());

            learnt(night, dr, 1, 6e9, 10);
            learnt(night, dr, 1, 0, 10);
            assertThat(tunings.start(dr)).as("the cost model's").isEqualTo(new TuningStart.Carried(6e8));

            tunings.add(1, List.of(decision(2, 5e8, TuningReason.ENOUGH)));
            assertThat(tunings.start(dr)).as("measured").isEqualTo(new TuningStart.Carried(5e8));

            for (int run = 2; run <= 5; run++) {
                run(night, run);
                tunings.add(run, List.of(decision(0, 1e6 * run, TuningReason.ENOUGH)));
            }
            assertThat(tunings.start(dr)).as("the last five").isEqualTo(new TuningStart.Carried(5e8));
            run(night, 6);
            tunings.add(6, List.of(decision(0, 1e6, TuningReason.WINDOWS), decision(1, 2e7, TuningReason.MORE_FASTER)));
            assertThat(tunings.start(dr)).isEqualTo(new TuningStart.Carried(2e7));
        }
    }

    @Test
    void theLatestDecisionsOfARunAreKept() throws Exception {
        try (LoopbackSite site = site();
                Night night = Night.on(site.address())) {
            Tunings tunings = night.get(Tunings.class);
            run(night, 1);
            List<TuningDecision> all = IntStream.range(0, Tunings.DECISIONS_MAX + 10)
                    .mapToObj(n -> decision(n, 1e6, TuningReason.WINDOWS))
                    .toList();

            tunings.add(1, all);
            tunings.add(1, all.subList(all.size() - 2, all.size()));

            assertThat(tunings.of(1)).isEqualTo(all.subList(10, all.size()));
        }
    }

    @Test
    void decisionsOfOldRunsAreDeleted() throws Exception {
        try (LoopbackSite site = site();
                Night night = Night.on(site.address(), "dozo.retention.runs=100d")) {
            Tunings tunings = night.get(Tunings.class);
            for (int run = 1; run <= 2; run++) {
                run(night, run);
                tunings.add(run, List.of(decision(0, 1e6, TuningReason.WINDOWS)));
            }
            night.update("update run set ended_at = now() - interval '101 days' where run_id = 1");

            night.get(Retention.class).prune(() -> true);

            assertThat(tunings.of(1)).isEmpty();
            assertThat(tunings.of(2)).hasSize(1);
        }
    }

    private LoopbackSite site() throws Exception {
        return LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
    }

    private static List<TuningDecision> decisions(Night night, Run run) {
        return night.get(Tunings.class).of(run.id());
    }

    private static TuningDecision decision(int seconds, Double bytesPerSecond, TuningReason reason) {
        return new TuningDecision(NIGHT.plusSeconds(seconds), 4, 2, bytesPerSecond, reason);
    }

    private static void run(Night night, int id) {
        night.jdbc().sql("""
                        insert into run (run_id, kind, site_id, state, requested_by, started_at, ended_at)
                        overriding system value
                        select :run, 'nightlyBackup', site_id, 'COMPLETE', 'test', now(), now() from site
                        """).param("run", id).update();
    }

    private static void learnt(Night night, int site, long run, double bytes, double seconds) {
        night.jdbc()
                .sql("""
                        insert into cost_model (site_id, run_id, measured_at, bytes, entries, lanes, seconds, bytes_per_second,
                                                seconds_per_entry, measurements)
                        values (:site, :run, now(), :bytes, 1, 4, :seconds, 1e6, 0.001, 1)
                        """)
                .param("site", site)
                .param("run", run)
                .param("bytes", (long) bytes)
                .param("seconds", seconds)
                .update();
    }
}
