package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dozo.plan.Shares.Bottleneck;
import dozo.plan.Shares.Duration;
import dozo.plan.Shares.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** The duration of each way of sharing out, and its bottleneck. */
class SharesTest {

    private static final double DAY = 86_400;
    private static final double NO_LINK = Double.POSITIVE_INFINITY;

    /** 600 Mbit/s per lane. */
    private static final CostModel LANE = new CostModel(75e6, 0);

    /** The largest projects of a centre, and the sum of the rest, in the regions of its first copy. */
    private static final List<Lot> CENTRE = List.of(
            lot("0001", "1", 334_605_374),
            lot("0002", "2", 249_307_831),
            lot("0003", "3", 67_109_542),
            lot("0004", "3", 60_455_564),
            lot("0005", "3", 47_376_576),
            lot("0006", "4", 35_885_983),
            lot("the rest", "4", 130_639_845));

    @Test
    void theRegionsOfTheCentreAreAsUnevenAsItSaid() {
        Shares regions = Shares.regions(CENTRE, LANE);

        assertThat(regions.shares()).hasSize(4);
        assertThat(regions.largestToIdeal()).isCloseTo(1.446, within(0.0005));
        Duration forecast = regions.takes(4, 952.5e6);
        assertThat(forecast.seconds() / DAY).isCloseTo(51.6, within(0.05));
        assertThat(forecast.bottleneck()).isEqualTo(Bottleneck.LARGEST_SHARE);
    }

    @Test
    void splitInsideProjectsNoLaneWaits() {
        for (int partitions : new int[] {4, 8, 13, 64}) {
            assertThat(Shares.split(CENTRE, partitions, LANE).imbalance()).isBetween(-1e-9, 0.0002);
        }
        Duration four = Shares.split(CENTRE, 4, LANE).takes(4, 952.5e6);
        assertThat(four.seconds() / DAY).isCloseTo(35.7, within(0.05));
        assertThat(four.bottleneck()).isEqualTo(Bottleneck.LANES);
    }

    @Test
    void wholeProjectsAreNoFasterOnThirteenLanesThanOnFour() {
        Shares four = Shares.whole(CENTRE, 4, LANE);
        Shares thirteen = Shares.whole(CENTRE, 13, LANE);

        assertThat(four.takes(4, NO_LINK).seconds())
                .isEqualTo(thirteen.takes(13, NO_LINK).seconds());
        assertThat(thirteen.largestToIdeal()).isCloseTo(4.70, within(0.005));
    }

    @Test
    void aFullLinkLimits() {
        Duration thirteen = Shares.split(CENTRE, 13, LANE).takes(13, 952.5e6);

        assertThat(thirteen.bottleneck()).isEqualTo(Bottleneck.LINK);
        assertThat(thirteen.seconds()).isCloseTo(925_380_715e6 / 952.5e6, Percentage.withPercentage(0.01));
    }

    @Test
    void aLinkSlowsAllAlikeWhileItIsFull() {
        Shares two = new Shares(List.of(new Share(100, 1, 10), new Share(300, 1, 30)));

        // 20 B/s are wanted for 10 s, but only 15 B/s are available; then one lane alone wants 10.
        assertThat(two.takes(2, 15).seconds()).isCloseTo(10 * 20 / 15.0 + 20, within(1e-9));
    }

    @Test
    void morePartitionsThanLanesTakeTurns() {
        Shares four = Shares.split(CENTRE, 4, LANE);
        Shares sixteen = Shares.split(CENTRE, 16, LANE);

        assertThat(sixteen.takes(4, NO_LINK).seconds())
                .isCloseTo(four.takes(4, NO_LINK).seconds(), Percentage.withPercentage(0.1));
    }

    @Test
    void filesCostTimeAndNoBytes() {
        List<Lot> lots = List.of(new Lot("a", "", 1, new Work(0, 1_000_000)));
        Duration forecast = Shares.split(lots, 2, new CostModel(1e6, 0.001)).takes(2, 1);

        assertThat(forecast.seconds()).isCloseTo(500, within(0.1));
        assertThat(forecast.bottleneck()).isEqualTo(Bottleneck.LANES);
    }

    @Test
    void timeThatNoLaneShortensLimitsOnlyIfItIsLonger() {
        Duration lanes = new Duration(10, Bottleneck.LANES);

        assertThat(lanes.orLonger(10, Bottleneck.EXPERIMENTS)).isEqualTo(lanes);
        assertThat(lanes.orLonger(10.1, Bottleneck.EXPERIMENTS)).isEqualTo(new Duration(10.1, Bottleneck.EXPERIMENTS));
    }

    @Test
    void nothingTakesNoTime() {
        for (Shares shares : List.of(Shares.split(List.of(), 3, LANE), Shares.whole(List.of(), 3, LANE))) {
            assertThat(shares.largestToIdeal()).isEqualTo(1);
            assertThat(shares.takes(3, 1)).isEqualTo(new Duration(0, Bottleneck.LANES));
        }
    }

    @Test
    void splittingKeepsTheSums() {
        Random dice = new Random(11);
        for (int i = 0; i < 50; i++) {
            List<Lot> lots = new ArrayList<>();
            Work sum = Work.NONE;
            for (int j = 0; j < dice.nextInt(40); j++) {
                Work work = new Work((long) Math.pow(10, dice.nextDouble(15)), dice.nextInt(1_000_000));
                lots.add(new Lot("lot " + j, "", 1, work));
                sum = sum.plus(work);
            }
            Shares shares = Shares.split(lots, 1 + dice.nextInt(64), CostModel.DEFAULT);
            assertThat(shares.shares().stream().mapToDouble(Share::bytes).sum())
                    .isCloseTo(sum.bytes(), Percentage.withPercentage(1e-6));
            assertThat(shares.imbalance()).isBetween(-1e-9, 0.0002);
        }
    }

    private static Lot lot(String name, String region, long megabytes) {
        return new Lot(name, region, 1, new Work(megabytes * 1_000_000, 0));
    }
}
