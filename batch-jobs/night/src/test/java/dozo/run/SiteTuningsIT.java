package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.registry.Refusal;
import dozo.registry.SiteTimetables;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.RemoteException;
import dozo.remote.TuningDecision;
import dozo.remote.TuningGrid;
import dozo.remote.TuningGrid.Cell;
import dozo.remote.TuningReason;
import dozo.remote.TuningStart;
import dozo.run.SiteTunings.SiteTuning;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is measured at a site is kept, and runs begin with it. */
class SiteTuningsIT extends NightAtSite {

    private static final List<Cell> CELLS = List.of(new Cell(1, 1, 1e8), new Cell(1, 2, 1.9e8), new Cell(2, 2, 1.95e8));

    private Site dr;

    @BeforeEach
    void start() throws Exception {
        night.get(SiteMeasuring.class).requireProcessorShare(0);
        // Otherwise a measurement sends as much as it can.
        night.get(SiteTimetables.class).set("dr", List.of("daily 00:00-24:00 20 MB/s"), "test");
        dr = night.site();
    }

    @Test
    void aSiteIsMeasuredAndTheResultIsKept() throws Exception {
        SiteTunings tunings = night.get(SiteTunings.class);
        assertThat(tunings.of(dr.id())).isEmpty();

        SiteTuning measured = night.get(SiteMeasuring.class).measure(dr, "mori");

        assertThat(measured.cells()).isNotEmpty();
        assertThat(measured.best()).isEqualTo(TuningGrid.best(measured.cells()));
        assertThat(tunings.of(dr.id())).get().satisfies(kept -> {
            assertThat(kept.cells()).isEqualTo(measured.cells());
            assertThat(kept.best()).isEqualTo(measured.best());
            assertThat(kept.measuredBy()).isEqualTo("mori");
        });
        assertThat(night.count("select count(*) from ledger where action = 'site.tuned' and actor = 'mori'"))
                .isOne();
    }

    @Test
    void runsBeginWithTheChoiceWhileItHolds() throws Exception {
        night.get(SiteTunings.class).keep(dr, List.of(new Cell(3, 1, 5)), "mori");
        night.get(SiteTunings.class).keep(dr, CELLS, "mori");
        Tunings runs = night.get(Tunings.class);
        assertThat(runs.start(dr.id())).isEqualTo(new TuningStart.Chosen(CELLS.get(1)));
        Path source = Files.createDirectory(folder.resolve("E1"));
        night.register("E1", source);
        Night.write(source, Map.of("a", "1"));

        TuningDecision first = runs.of(night.complete().id()).getFirst();
        assertThat(first.reason()).isEqualTo(TuningReason.TUNED);
        assertThat(first.lanes()).isOne();
        assertThat(first.channels()).isEqualTo(2);

        night.update("update site_tuning set measured_at = measured_at - interval '91 days'");
        assertThat(runs.start(dr.id())).isNotInstanceOf(TuningStart.Chosen.class);
    }

    @Test
    void itIsRefusedWhileTheSiteIsClosedOrARunIsActive() throws Exception {
        DayOfWeek today = LocalDate.now(ZoneId.systemDefault()).getDayOfWeek();
        String days = Stream.of(today.minus(1), today, today.plus(1))
                .map(day -> day.name().substring(0, 3).toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(","));
        night.get(SiteTimetables.class).set("dr", List.of(days + " 00:00-24:00 closed"), "test");
        assertRefused("is closed");
        night.get(SiteTimetables.class).set("dr", List.of(), "test");
        night.open();
        assertRefused("is active");
    }

    @Test
    void aRunThatStartsMeanwhileEndsIt() throws Exception {
        CompletableFuture<Throwable> ended = measuring();

        night.open();

        assertThat(ended.get()).isInstanceOf(Refusal.class).hasMessageContaining("ended early");
        assertThat(night.get(SiteTunings.class).of(dr.id())).isEmpty();
    }

    @Test
    void aMachineThatIsTooBusyJudgesNothing() throws Exception {
        CompletableFuture<Throwable> ended = measuring();
        // NB: no thread ever gets more than a whole processor.
        night.get(SiteMeasuring.class).requireProcessorShare(1.1);

        assertThat(ended.get()).isInstanceOf(Refusal.class).hasMessageContaining("the service's machine is too busy");
        assertThat(night.get(SiteTunings.class).of(dr.id())).isEmpty();
    }

    /** Returns how a measurement ends that is in its first cell now. */
    private CompletableFuture<Throwable> measuring() {
        SiteMeasuring measuring = night.get(SiteMeasuring.class);
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                ended.completeExceptionally(new AssertionError(measuring.measure(dr, "mori")));
            } catch (RemoteException | InterruptedException | RuntimeException e) {
                ended.complete(e);
            }
        });
        Path incoming = folder.resolve("dr/.dozo/incoming");
        Night.until(() -> Files.exists(incoming));
        return ended;
    }

    @Test
    void aSiteThatCannotBeReachedKeepsItsResult() {
        SiteTunings tunings = night.get(SiteTunings.class);
        SiteTuning kept = tunings.keep(dr, CELLS, "mori");
        site.close();

        assertThatThrownBy(() -> night.get(SiteMeasuring.class).measure(dr, "mori"))
                .isInstanceOf(RemoteException.class);

        assertThat(tunings.of(dr.id()).orElseThrow().cells()).isEqualTo(kept.cells());
    }

    @Test
    void aSiteCanBeRemovedWithItsResult() {
        night.get(SiteTunings.class).keep(dr, CELLS, "mori");
        assertThat(night.get(Sites.class).remove("dr", false, "test")).isTrue();
        assertThat(night.count("select count(*) from site_tuning")).isZero();
    }

    @Test
    void onlyOneIsMeasuredAtATime() throws Exception {
        SiteMeasuring measuring = night.get(SiteMeasuring.class);
        CompletableFuture<SiteTuning> first = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                first.complete(measuring.measure(dr, "mori"));
            } catch (RemoteException | InterruptedException | RuntimeException e) {
                first.completeExceptionally(e);
            }
        });
        Path incoming = folder.resolve("dr/.dozo/incoming");
        Night.until(() -> first.isDone() || Files.exists(incoming));
        if (!first.isDone()) {
            assertRefused("another measurement is active");
        }
        assertThat(first.get().cells()).isNotEmpty();
    }

    private void assertRefused(String why) {
        assertThatThrownBy(() -> night.get(SiteMeasuring.class).measure(dr, "mori"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining(why);
    }
}
