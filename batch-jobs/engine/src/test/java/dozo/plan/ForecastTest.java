package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dozo.plan.Forecast.Sharing;
import dozo.plan.Forecast.Way;
import dozo.plan.Shares.Bottleneck;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The time of a forecast is the longest of what limits it, and its parts are known. */
class ForecastTest {

    /** 300 s of one lane for the bytes, 200 s for the files. */
    private static final Work WORK = new Work(90_000_000_000L, 500_000);

    @Test
    void experimentsLimitWithAnyNumberOfLanes() {
        List<Way> ways = dozo(forecast(9_000, 1_000));

        assertThat(ways)
                .extracting(Way::bottleneck)
                .containsExactly(Bottleneck.LANES, Bottleneck.EXPERIMENTS, Bottleneck.EXPERIMENTS);
        assertThat(ways.getFirst().seconds()).isCloseTo(250, within(0.1));
        assertThat(ways.subList(1, 3))
                .allSatisfy(way -> assertThat(way.seconds()).isCloseTo(170, within(1e-6)));
    }

    @Test
    void thePartsOfTheTimeAreKnown() {
        Forecast forecast = forecast(9_000, 1_000);

        assertThat(forecast.experiments()).isEqualTo(10_000);
        assertThat(forecast.parts().bytesLaneSeconds()).isCloseTo(300, within(1e-6));
        assertThat(forecast.parts().entriesLaneSeconds()).isCloseTo(200, within(1e-6));
        assertThat(forecast.parts().experimentsSeconds()).isCloseTo(170, within(1e-6));
    }

    @Test
    void experimentsThatAreNotCountedDoNotLimit() {
        Forecast forecast = forecast(0, 0);

        assertThat(forecast.parts().experimentsSeconds()).isZero();
        assertThat(dozo(forecast)).extracting(Way::bottleneck).containsOnly(Bottleneck.LANES);
    }

    @Test
    void moreExperimentsThanCanBeCountedAreRefused() {
        assertThatThrownBy(() -> forecast(Long.MAX_VALUE, 1)).isInstanceOf(ArithmeticException.class);
        assertThatThrownBy(() -> new Lot("a", "", -1, WORK)).isInstanceOf(IllegalArgumentException.class);
    }

    private static Forecast forecast(long experiments, long more) {
        List<Lot> lots = List.of(new Lot("a", "", experiments, WORK), new Lot("b", "", more, Work.NONE));
        return Forecast.of(lots, CostModel.DEFAULT, List.of(2, 4, 16), 0, null);
    }

    private static List<Way> dozo(Forecast forecast) {
        return forecast.ways().stream()
                .filter(way -> way.sharing() == Sharing.SPLIT)
                .toList();
    }
}
