package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.run.Limit.Glance;
import dozo.send.Load;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The bottleneck of a run, from the stages of its engine's units and files. */
class LimitTest {

    private static final double IDLE = 0.2;

    @Test
    void whereNothingIsOnItsWayNothingLimits() {
        assertThat(Limit.of(List.of())).isEmpty();
        assertThat(Limit.of(glances(1, Load.NONE, Load.NONE))).isEmpty();
    }

    @Test
    void whileUnitsAreSentItIsWhereTheirFilesAre() {
        assertThat(Limit.of(glances(IDLE, sending(64, 40, 4)))).contains(Limit.SOURCE);
        assertThat(Limit.of(glances(IDLE, sending(64, 10, 4)))).contains(Limit.SITE);
        assertThat(Limit.of(glances(IDLE, sending(1, 0, 1)))).contains(Limit.DIGESTING);
    }

    @Test
    void whatWaitsForTheLimitOfTheTimetableDoesNotWaitForTheSite() {
        assertThat(Limit.of(glances(IDLE, new Load(1, 0, 0, 0, 64, 10, 4, 30, 0))))
                .contains(Limit.TIMETABLE);
        assertThat(Limit.of(glances(IDLE, new Load(1, 0, 0, 0, 1, 0, 0, 4, 0)))).contains(Limit.TIMETABLE);
        assertThat(Limit.of(glances(1, new Load(1, 0, 0, 0, 64, 10, 4, 30, 0)))).contains(Limit.TIMETABLE);
    }

    @Test
    void whatStepsBackForOthersWaitsForNeitherSourceNorSite() {
        assertThat(Limit.of(glances(IDLE, new Load(1, 0, 0, 0, 64, 10, 4, 0, 30))))
                .contains(Limit.YIELDING);
        assertThat(Limit.of(glances(1, new Load(1, 0, 0, 0, 1, 0, 0, 0, 4)))).contains(Limit.YIELDING);
        assertThat(Limit.of(glances(IDLE, new Load(1, 0, 0, 0, 64, 40, 4, 0, 10))))
                .contains(Limit.SOURCE);
    }

    @Test
    void foldersAreMadeAtTheSite() {
        assertThat(Limit.of(glances(IDLE, sending(0, 0, 0)))).contains(Limit.SITE);
    }

    @Test
    void otherwiseItIsWhereMostUnitsAre() {
        assertThat(Limit.of(glances(IDLE, new Load(1, 3, 1, 1, 64, 64, 0, 0, 0))))
                .contains(Limit.PROVING);
        assertThat(Limit.of(glances(IDLE, new Load(1, 1, 3, 1, 64, 64, 0, 0, 0))))
                .contains(Limit.NAMING);
        assertThat(Limit.of(glances(IDLE, new Load(1, 1, 1, 3, 64, 64, 0, 0, 0))))
                .contains(Limit.RECORDING);
    }

    @Test
    void busyProcessorsLimitWhateverIsOnItsWay() {
        assertThat(Limit.of(glances(0.97, sending(64, 40, 4)))).contains(Limit.PROCESSORS);
        assertThat(Limit.of(glances(0.97, new Load(0, 3, 0, 0, 0, 0, 0, 0, 0)))).contains(Limit.PROCESSORS);
    }

    @Test
    void processorsThatNobodyCanTellOfDoNotLimit() {
        assertThat(Limit.of(glances(-1, sending(64, 40, 4)))).contains(Limit.SOURCE);
    }

    @Test
    void oneGlanceDoesNotOutweighTheOthers() {
        assertThat(Limit.of(glances(IDLE, sending(4, 3, 0), sending(4, 3, 0), new Load(0, 1, 0, 0, 0, 0, 0, 0, 0))))
                .contains(Limit.SOURCE);
    }

    private static Load sending(int files, int reading, int digesting) {
        return new Load(1, 0, 0, 0, files, reading, digesting, 0, 0);
    }

    private static List<Glance> glances(double processors, Load... loads) {
        return Arrays.stream(loads).map(load -> new Glance(load, processors)).toList();
    }
}
