package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dozo.copy.Trees;
import dozo.ledger.Ledger;
import dozo.registry.Refusal;
import dozo.registry.SiteTimetables;
import dozo.restore.RestoreQueue;
import dozo.run.Limits.Bottleneck;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.nio.file.Files;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Runs follow the timetable of their site, while they run and at their start. */
class SiteHoursIT extends NightAtSite {

    /** At this rate the source would take half an hour. */
    private static final List<String> SLOW = List.of("daily 00:00-24:00 10kB/s");

    SiteHoursIT() {
        super("dozo.transfer.bundle=512kB", "dozo.transfer.partitions=1");
    }

    @Test
    void aLimitHoldsForARunThatIsGoingOnAndItsEndToo() throws Exception {
        writeSource();
        set(SLOW);

        Run run = begun();
        Night.until(() -> bottlenecks(run).stream()
                .findFirst()
                .filter(each -> each.limit() == Limit.TIMETABLE && each.speedup() > 1.1)
                .isPresent());

        set(List.of());
        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
        assertThat(bottlenecks(run)).as("kept").isNotEmpty();
        assertThat(bottlenecks(run).stream().mapToDouble(Bottleneck::share).sum())
                .isCloseTo(1, within(1e-9));
        assertThat(night.get(Ledger.class).after(0, 1_000))
                .filteredOn(row -> row.action().equals("site.timetable"))
                .hasSize(2);
    }

    @Test
    void aRunYieldsInAWindowThatSaysSo() throws Exception {
        writeSource();
        set(List.of("daily 00:00-24:00 yielding"));

        Run run = night.operations().start("dr", "operator");

        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
        assertThat(bottlenecks(run)).extracting(Bottleneck::limit).contains(Limit.YIELDING);
        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        assertThat(night.get(SiteHours.class).now(1).allowance().yielding()).isTrue();
    }

    @Test
    void aRunYieldsWhileARestoreFromItsSiteRuns() throws Exception {
        Night.write(folder.resolve("E2"), Map.of("a", "1"));
        night.register("E2", folder.resolve("E2"));
        night.complete();
        writeSource();
        // NB: nobody works on it.
        night.get(RestoreQueue.class).stop();
        night.update("""
                insert into restore (experiment_id, manifest_no, site_id, folder, state, requested_by, requested_at, started_at)
                select experiment_id, 1, site_id, '/restored', 'RUNNING', 'lab', now(), now() from experiment, site where code = 'E2'
                """);
        night.operations().keepHours();

        Run run = night.operations().start("dr", "operator");

        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
        assertThat(bottlenecks(run)).extracting(Bottleneck::limit).contains(Limit.YIELDING);
        assertThat(night.get(SiteHours.class).now(1).allowance().yielding())
                .as("not by the timetable")
                .isFalse();
    }

    @Test
    void aRunIsPausedWhileItsSiteIsClosedAndContinuesWhenItOpens() throws Exception {
        writeSource();
        set(SLOW);
        Run run = begun();

        set(closedNow());

        Run paused = night.find(run);
        assertThat(paused.isClosed()).isTrue();
        assertThat(paused.pausedBy()).isEqualTo(Ledger.SYSTEM);
        // What was under way would take minutes at this rate: it is cut off.
        Night.until(() -> {
            night.operations().keepHours();
            return !night.operations().isWorking();
        });
        assertThat(night.find(run).isClosed()).isTrue();
        assertThatThrownBy(() -> night.operations().resume(run.id(), "operator"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("site dr is closed until");
        long verified = night.count("select count(*) from receipt");

        set(List.of());
        Night.until(() -> {
            night.operations().keepHours();
            return night.find(run).state() != RunState.PAUSED;
        });
        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select count(*) from receipt")).isGreaterThan(verified);
        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        assertThat(night.get(Ledger.class).after(0, 1_000))
                .filteredOn(
                        row -> row.action().equals("run.paused") || row.action().equals("run.resumed"))
                .extracting(row -> row.actor(), row -> row.action())
                .containsExactly(tuple(Ledger.SYSTEM, "run.paused"), tuple(Ledger.SYSTEM, "run.resumed"));
    }

    @Test
    void noRunBeginsWhileItsSiteIsClosedAndWhatAUserHasPausedStaysPaused() throws Exception {
        writeSource();
        set(closedNow());
        assertThatThrownBy(() -> night.operations().start("dr", "operator"))
                .isInstanceOfSatisfying(
                        Refusal.class,
                        refusal -> assertThat(refusal.isConflict()).isTrue())
                .hasMessageContaining("site dr is closed until");
        assertThatThrownBy(() -> night.operations()
                        .startScrub(new ScrubRequest("dr", Duration.ofDays(1), true, 0, null, false), "operator"))
                .hasMessageContaining("site dr is closed until");
        assertThat(night.get(SiteHours.class).isOpen(1)).isFalse();

        set(SLOW);
        Run run = begun();
        night.operations().pause(run.id(), "operator");
        set(closedNow());
        set(List.of());
        assertThat(night.find(run).pausedBy()).isEqualTo("operator");

        Night.until(() -> {
            night.operations().recover(Duration.ZERO);
            return !night.operations().isWorking();
        });
        night.operations().resume(run.id(), "operator");
        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aTimetableOfNoSiteIsNone() {
        assertThat(night.get(SiteTimetables.class).set("other", SLOW, "admin")).isEmpty();
        assertThat(night.get(SiteTimetables.class).of(1).rules()).isEmpty();
    }

    private void writeSource() throws Exception {
        for (int i = 0; i < 16; i++) {
            Files.write(source.resolve("f" + i), Trees.random(1 << 20, i));
        }
        register(Map.of("small", "1"));
    }

    /** Starts a night that has sent something and is far from its end. */
    private Run begun() {
        Run run = night.operations().start("dr", "operator");
        Night.until(() -> night.get(Senders.class).bytesMoved(run.id()) > 0);
        assertThat(night.find(run).state()).isEqualTo(RunState.RUNNING);
        return run;
    }

    private void set(List<String> rules) {
        night.get(SiteTimetables.class).set("dr", rules, "admin").orElseThrow();
        night.operations().keepHours();
    }

    /** Returns a rule that closes the site from an hour ago to an hour from now. */
    private static List<String> closedNow() {
        DateTimeFormatter minutes = DateTimeFormatter.ofPattern("HH:mm");
        LocalTime now = LocalTime.now(ZoneId.systemDefault());
        return List.of("daily %s-%s closed"
                .formatted(now.minusHours(1).format(minutes), now.plusHours(1).format(minutes)));
    }

    private List<Bottleneck> bottlenecks(Run run) {
        return night.get(Limits.class).of(run.id());
    }
}
