package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dozo.remote.LinkLoad;
import dozo.run.Limit.Found;
import dozo.run.Limit.Glance;
import dozo.send.Load;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The bottleneck of a run, from the stages of its engine's units and files, and what a faster one would bring. */
class LimitTest {

    private static final double IDLE = 0.2;
    private static final long GLANCE_NANOS = 200_000_000;
    private static final long ROUND_TRIP_NANOS = 10_000_000;
    private static final long WINDOW = 2 << 20;

    @Test
    void whereNothingIsOnItsWayNothingLimits() {
        assertThat(Limit.of(List.of())).isEmpty();
        assertThat(Limit.of(glances(1, Load.NONE, Load.NONE))).isEmpty();
    }

    @Test
    void whereNothingIsOnItsWayYetTheRunLooksOrAlreadySettles() {
        assertThat(Limit.of(waiting(Limit.LOOKING))).contains(new Found(Limit.LOOKING, 0.5));
        assertThat(Limit.of(waiting(Limit.SETTLING))).contains(new Found(Limit.SETTLING, 0.5));
        assertThat(Limit.of(waiting(null))).isEmpty();
    }

    @Test
    void whileUnitsAreSentItIsWhereTheirFilesAre() {
        assertThat(limit(IDLE, sending(64, 40, 4))).isEqualTo(Limit.SOURCE);
        assertThat(limit(IDLE, sending(64, 10, 4))).isEqualTo(Limit.LINK);
        assertThat(limit(IDLE, sending(1, 0, 1))).isEqualTo(Limit.DIGESTING);
    }

    @Test
    void aConnectionThatTakesNoMoreIsALinkThatIsFull() {
        assertThat(site(new LinkLoad(4, 3, 500, 0, 0, 4 * WINDOW, ROUND_TRIP_NANOS, 0), 100, 0))
                .isEqualTo(Limit.LINK);
        assertThat(site(LinkLoad.NONE, 0, 0)).as("no connection at all").isEqualTo(Limit.LINK);
    }

    @Test
    void answersThatComeAfterARoundTripAreHeldUpByTheDistance() {
        // 20 requests that each take 10 ms are 2,000 answers a second.
        LinkLoad few = new LinkLoad(1, 0, 20, 0, 0, WINDOW, ROUND_TRIP_NANOS, 0);
        assertThat(site(few, 2000, 0)).isEqualTo(Limit.ROUND_TRIPS);
        assertThat(site(few, 200, 0)).as("each takes 100 ms").isEqualTo(Limit.WRITING);
        assertThat(site(few, 0, 0)).as("no answer at all").isEqualTo(Limit.WRITING);
    }

    @Test
    void anSshServerThatAnswersAsLateAsSftpIsReachedLate() {
        LinkLoad late = new LinkLoad(1, 0, 20, 0, 0, WINDOW, ROUND_TRIP_NANOS, 90_000_000);
        assertThat(site(late, 200, 0)).as("SFTP takes 100 ms").isEqualTo(Limit.LINK);
        assertThat(site(late, 20, 0)).as("SFTP takes a second").isEqualTo(Limit.WRITING);
        assertThat(site(late, 0, 0)).as("an archive").isEqualTo(Limit.LINK);
    }

    @Test
    void windowsThatAreFullAreHeldUpByTheDistance() {
        // A window of 2 MiB carries 210 MB/s at 10 ms. An archive has no answers.
        LinkLoad archive = new LinkLoad(1, 0, 0, 0, 0, WINDOW, ROUND_TRIP_NANOS, 0);
        assertThat(site(archive, 0, 200_000_000)).isEqualTo(Limit.ROUND_TRIPS);
        assertThat(site(archive, 0, 20_000_000)).isEqualTo(Limit.WRITING);
    }

    @Test
    void whatWaitsForTheLimitOfTheTimetableDoesNotWaitForTheSite() {
        assertThat(limit(IDLE, load(1, 0, 0, 0, 64, 10, 4, 30))).isEqualTo(Limit.TIMETABLE);
        assertThat(limit(IDLE, load(1, 0, 0, 0, 1, 0, 0, 4))).isEqualTo(Limit.TIMETABLE);
        assertThat(limit(1, load(1, 0, 0, 0, 64, 10, 4, 30))).isEqualTo(Limit.TIMETABLE);
    }

    @Test
    void whatStepsBackForOthersWaitsForNeitherSourceNorSite() {
        assertThat(limit(IDLE, yielding(64, 10, 30))).isEqualTo(Limit.YIELDING);
        assertThat(limit(1, yielding(1, 0, 4))).isEqualTo(Limit.YIELDING);
        assertThat(limit(IDLE, yielding(64, 40, 10))).isEqualTo(Limit.SOURCE);
    }

    @Test
    void otherwiseItIsWhereMostUnitsAre() {
        assertThat(limit(IDLE, load(1, 3, 1, 1, 64, 64, 0, 0))).isEqualTo(Limit.PROVING);
        assertThat(limit(IDLE, load(1, 1, 3, 1, 64, 64, 0, 0))).isEqualTo(Limit.NAMING);
        assertThat(limit(IDLE, load(1, 1, 1, 3, 64, 64, 0, 0))).isEqualTo(Limit.RECORDING);
    }

    @Test
    void busyProcessorsLimitWhateverIsOnItsWay() {
        assertThat(limit(0.97, sending(64, 40, 4))).isEqualTo(Limit.PROCESSORS);
        assertThat(limit(0.97, load(0, 3, 0, 0, 0, 0, 0, 0))).isEqualTo(Limit.PROCESSORS);
        assertThat(limit(0.97, Load.NONE, Load.NONE, sending(1, 0, 0), sending(1, 0, 0), sending(1, 0, 0)))
                .isEqualTo(Limit.PROCESSORS);
    }

    @Test
    void processorsThatNobodyCanTellOfDoNotLimit() {
        assertThat(limit(-1, sending(64, 40, 4))).isEqualTo(Limit.SOURCE);
    }

    @Test
    void oneGlanceDoesNotOutweighTheOthers() {
        assertThat(limit(IDLE, sending(4, 3, 0), sending(4, 3, 0), load(0, 1, 0, 0, 0, 0, 0, 0)))
                .isEqualTo(Limit.SOURCE);
    }

    @Test
    void twiceAsFastThereHalvesTheTimeUnlessAnotherStageIsNearlyAsBusy() {
        assertThat(needed(IDLE, sending(64, 60, 0))).isEqualTo(0.5);
        assertThat(needed(0.8, sending(64, 60, 0))).isCloseTo(0.8, within(1e-9));
        // Three units of four are being recorded all the time: busy for three quarters of it.
        assertThat(needed(IDLE, load(4, 0, 0, 3, 64, 60, 0, 0))).isCloseTo(0.75, within(1e-9));
        assertThat(needed(IDLE, load(4, 0, 3, 0, 64, 60, 0, 0)))
                .as("one sync serves all")
                .isEqualTo(0.5);
        assertThat(needed(1, sending(64, 60, 0))).as("of the processors").isEqualTo(0.5);
    }

    private static Limit limit(double processors, Load... loads) {
        return Limit.of(glances(processors, loads)).orElseThrow().limit();
    }

    private static double needed(double processors, Load... loads) {
        return Limit.of(glances(processors, loads)).orElseThrow().needed();
    }

    /** Returns the bottleneck while files wait for a site that answers and takes so much a second. */
    private static Limit site(LinkLoad link, long answersPerSecond, long bytesPerSecond) {
        List<Glance> glances = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            double seconds = i * GLANCE_NANOS / 1e9;
            LinkLoad now = new LinkLoad(
                    link.lanes(),
                    link.writing(),
                    link.unanswered(),
                    (long) (seconds * answersPerSecond),
                    (long) (seconds * bytesPerSecond),
                    link.windowBytes(),
                    link.roundTripNanos(),
                    link.serverNanos());
            glances.add(new Glance(i * GLANCE_NANOS, new Load(1, 0, 0, 0, 8, 0, 0, 0, 0, now), IDLE, null));
        }
        return Limit.of(glances).orElseThrow().limit();
    }

    private static Load sending(int files, int reading, int digesting) {
        return load(1, 0, 0, 0, files, reading, digesting, 0);
    }

    private static Load load(
            int sending, int proving, int naming, int recording, int files, int reading, int digesting, int limited) {
        return new Load(sending, proving, naming, recording, files, reading, digesting, limited, 0, LinkLoad.NONE);
    }

    private static Load yielding(int files, int reading, int yielding) {
        return new Load(1, 0, 0, 0, files, reading, 0, 0, yielding, LinkLoad.NONE);
    }

    private static List<Glance> waiting(@Nullable Limit idle) {
        return Collections.nCopies(5, new Glance(0, Load.NONE, IDLE, idle));
    }

    private static List<Glance> glances(double processors, Load... loads) {
        List<Glance> glances = new ArrayList<>();
        for (Load load : loads) {
            glances.add(new Glance(glances.size() * GLANCE_NANOS, load, processors, null));
        }
        return glances;
    }
}
