package dozo.remote;

import static dozo.remote.TuningReason.AGAIN;
import static dozo.remote.TuningReason.ASSUMED_RATE;
import static dozo.remote.TuningReason.DROPPED;
import static dozo.remote.TuningReason.EARLIER_RATE;
import static dozo.remote.TuningReason.ENOUGH;
import static dozo.remote.TuningReason.FEWER_AS_FAST;
import static dozo.remote.TuningReason.FEWER_SLOWER;
import static dozo.remote.TuningReason.LOSS;
import static dozo.remote.TuningReason.MORE_FASTER;
import static dozo.remote.TuningReason.MORE_NO_FASTER;
import static dozo.remote.TuningReason.RISEN;
import static dozo.remote.TuningReason.SITE_LIMIT;
import static dozo.remote.TuningReason.WINDOWS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.remote.TuningStart.Carried;
import dozo.remote.TuningStart.Unknown;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Chooses lanes and channels by the round trip and by measurement, on simulated links in simulated time. */
class TuningTest {

    private static final long NEAR = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long FAR = TimeUnit.MILLISECONDS.toNanos(36);
    private static final double MB = 1e6;
    private static final int HOUR = 3600;

    @Test
    void nearTheCoresDecide() {
        assertThat(first(NEAR, 64, 1)).isEqualTo("2 x 1");
        assertThat(first(NEAR, 64, 6)).isEqualTo("6 x 1");
        assertThat(first(NEAR, 64, 96)).isEqualTo("8 x 1");
        assertThat(first(0, 64, 4)).isEqualTo("4 x 1");
    }

    @Test
    void farTheWindowsDecide() {
        assertThat(first(TimeUnit.MILLISECONDS.toNanos(5), 64, 96)).isEqualTo("4 x 1");
        assertThat(first(TimeUnit.MILLISECONDS.toNanos(30), 64, 96)).isEqualTo("4 x 1");
        assertThat(first(TimeUnit.MILLISECONDS.toNanos(90), 64, 1)).isEqualTo("4 x 3");
        assertThat(first(TimeUnit.MILLISECONDS.toNanos(300), 64, 1)).isEqualTo("4 x 4");
        assertThat(new Tuning(FAR, 64, 1, new Unknown()).first()).isEqualTo(ASSUMED_RATE);
    }

    @Test
    void theRateOfBeforeDecidesIfItIsKnown() {
        // 952 MB/s at 36 ms need 17 windows of 2 MiB.
        assertThat(first(FAR, 64, 4, 952 * MB)).isEqualTo("5 x 4");
        assertThat(first(FAR, 64, 4, 20 * MB)).isEqualTo("4 x 1");
        assertThat(first(FAR, 64, 4, 400 * MB)).isEqualTo("4 x 2");
        assertThat(first(FAR, 3, 4, 952 * MB)).isEqualTo("3 x 4");
        assertThat(first(FAR, 64, 4, 1e18)).isEqualTo("64 x 4");
        assertThat(first(NEAR, 64, 4, 952 * MB)).isEqualTo("4 x 1");
        assertThat(new Tuning(FAR, 64, 1, new Carried(1)).first()).isEqualTo(EARLIER_RATE);
        for (double none : new double[] {0, -1, Double.NaN}) {
            assertThatThrownBy(() -> new Carried(none)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void whatWasMeasuredWithMadeUpDataComesFirst() {
        Tuning tuning = new Tuning(FAR, 64, 4, new TuningStart.Chosen(new TuningGrid.Cell(8, 2, 900 * MB)));
        assertThat(shape(tuning)).isEqualTo("8 x 2");
        assertThat(tuning.first()).isEqualTo(TuningReason.TUNED);
    }

    @Test
    void channelsAreAddedBeforeLanes() {
        Link link = new Link(FAR, 10_000 * MB);
        link.pass(60);

        assertThat(link.shapes).startsWith("4 x 1", "4 x 2", "4 x 4", "6 x 4", "9 x 4");
        assertThat(link.reasons).startsWith(WINDOWS, MORE_FASTER, WINDOWS, MORE_FASTER);
        assertThat(link.shape()).as("32 lanes carry 7,456 MB/s").isEqualTo("48 x 4");
        assertThat(link.rate()).isEqualTo(10_000 * MB);

        link.bytesPerSecond = 1e12;
        link.pass(HOUR);
        assertThat(link.shape()).as("the limit").isEqualTo("64 x 4");
    }

    @Test
    void moreThatAreNoFasterAreGivenUpAgain() {
        Link link = new Link(FAR, 952 * MB);
        link.pass(HOUR);

        // 17 windows are enough; 4 x 4 carry 932 MB/s.
        assertThat(link.shape()).isEqualTo("4 x 4");
        assertThat(link.reasons).startsWith(WINDOWS, MORE_FASTER, WINDOWS, MORE_FASTER, WINDOWS, MORE_NO_FASTER);
        assertThat(link.reasons.size()).as("trials become rare").isLessThan(24);
    }

    @Test
    void farMoreLanesAreTriedNowAndThenIfTheWindowsAreNotTheLimit() {
        Link link = new Link(FAR, 80 * MB);
        link.pass(HOUR);

        assertThat(link.shape()).isEqualTo("4 x 1");
        assertThat(link.reasons).startsWith(LOSS, MORE_NO_FASTER, LOSS, MORE_NO_FASTER);
        assertThat(link.reasons.size()).as("trials become rare").isLessThan(20);
    }

    @Test
    void nearNothingChangesIfTheWindowsAreNotTheLimit() {
        Link link = new Link(NEAR, 80 * MB);
        link.pass(HOUR);

        assertThat(link.shapes).containsExactly("8 x 1");
        assertThat(link.reasons).containsExactly(ENOUGH);
    }

    /** Each connection gets what loss allows, whatever its windows. */
    @Test
    void withLossMoreLanesAreFaster() {
        Link link = new Link(FAR, 952 * MB);
        link.bytesPerSecondOfALane = 10 * MB;
        link.pass(20);

        assertThat(link.shapes).containsExactly("4 x 1", "8 x 1", "16 x 1");
        assertThat(link.reasons).startsWith(LOSS, MORE_FASTER, LOSS, MORE_FASTER);
        assertThat(link.rate()).isEqualTo(160 * MB);
    }

    @ParameterizedTest
    @ValueSource(longs = {36, 200})
    void itDoesNotSwingOnANoisyLink(long milliseconds) {
        for (int seed = 0; seed < 200; seed++) {
            Link link = new Link(TimeUnit.MILLISECONDS.toNanos(milliseconds), 952 * MB);
            link.noise = new Random(seed);
            link.pass(HOUR);

            assertThat(link.reasons.size())
                    .as("decisions in an hour, seed %d", seed)
                    .isLessThan(40);
            assertThat(link.meanOfLast(HOUR / 2)).as("rate, seed %d", seed).isGreaterThan(0.85 * 952 * MB);
        }
    }

    @Test
    void onASharedLinkFewerAreTriedAndMoreAgainWhenItIsFree() {
        Link link = new Link(FAR, 952 * MB);
        link.pass(HOUR);
        double alone = link.rate();
        int before = link.tuning.lanes() * link.tuning.channels();
        link.reasons.clear();

        link.bytesPerSecond = 100 * MB;
        link.pass(HOUR);

        assertThat(link.reasons).startsWith(DROPPED, FEWER_AS_FAST);
        assertThat(link.tuning.lanes() * link.tuning.channels()).isLessThan(before);
        assertThat(link.rate()).as("fewer carry as much").isEqualTo(100 * MB);
        link.reasons.clear();

        link.bytesPerSecond = 952 * MB;
        link.pass(300);

        assertThat(link.reasons).startsWith(WINDOWS, MORE_FASTER);
        assertThat(link.rate()).isGreaterThan(0.9 * alone);
    }

    /** The windows do not show there that more lanes would be faster. */
    @Test
    void nearFewerAreTriedAndMoreAgainWhenItIsFree() {
        Link link = new Link(NEAR, 800 * MB);
        link.bytesPerSecondOfALane = 100 * MB;
        link.pass(60);
        assertThat(link.shape()).isEqualTo("8 x 1");

        link.bytesPerSecond = 150 * MB;
        link.pass(HOUR);
        assertThat(link.shape()).as("two lanes carry 150 MB/s").isEqualTo("2 x 1");
        link.reasons.clear();

        link.bytesPerSecond = 800 * MB;
        link.pass(2 * HOUR);
        assertThat(link.reasons).startsWith(RISEN, MORE_FASTER, RISEN, MORE_FASTER);
        assertThat(link.shape()).isEqualTo("8 x 1");
    }

    @Test
    void moreAreTriedAgainAfterAWhileEvenIfNothingShowsThatTheyHelp() {
        Link link = new Link(NEAR, 800 * MB);
        link.bytesPerSecondOfALane = 100 * MB;
        link.pass(60);
        link.bytesPerSecond = 200 * MB;
        link.pass(HOUR);
        assertThat(link.shape()).isEqualTo("2 x 1");
        link.reasons.clear();

        // Two lanes carry no more than that: the rate cannot show that the link is free.
        link.bytesPerSecond = 800 * MB;
        link.pass(2 * HOUR);
        assertThat(link.reasons).startsWith(AGAIN, MORE_FASTER);
        assertThat(link.shape()).isEqualTo("8 x 1");
    }

    /** Where each connection gets its share, fewer of them get less. */
    @Test
    void fewerThatAreSlowerAreTakenBack() {
        Link link = new Link(NEAR, 800 * MB);
        link.pass(60);

        link.bytesPerSecondOfALane = 40 * MB;
        link.pass(HOUR);

        assertThat(link.shape()).isEqualTo("8 x 1");
        assertThat(link.reasons).contains(DROPPED, FEWER_SLOWER).doesNotContain(FEWER_AS_FAST);
        assertThat(link.reasons.size()).as("trials become rare").isLessThan(24);
    }

    @Test
    void oneLaneWithOneChannelAlwaysRemains() {
        Link link = new Link(NEAR, 800 * MB);
        link.pass(60);

        link.bytesPerSecond = 1;
        link.pass(HOUR);
        assertThat(link.shapes).contains("1 x 1");
        assertThat(link.tuning.lanes()).isPositive();
        assertThat(link.tuning.channels()).isPositive();
    }

    @Test
    void atASiteThatRefusesLanesThoseItAllowsAreUsed() {
        Link link = new Link(FAR, 10_000 * MB);
        link.lanesAllowed = 5;
        link.pass(HOUR);

        assertThat(link.shape()).isEqualTo("5 x 4");
        assertThat(link.reasons).contains(SITE_LIMIT);
        assertThat(link.reasons.size()).as("trials become rare").isLessThan(30);
        assertThat(link.rate()).isEqualTo(5 * 4 * link.window());
    }

    @Test
    void aSiteMayRefuseLanesOfTheFirstChoice() {
        Link link = new Link(FAR, 10_000 * MB);
        link.lanesAllowed = 1;
        link.pass(60);
        assertThat(link.reasons).startsWith(SITE_LIMIT);
        assertThat(link.shape()).isEqualTo("1 x 4");
        assertThat(link.tuning.refused(1)).as("as many as wanted").isEmpty();
    }

    @Test
    void channelsThatASiteRefusesAreNotAskedForAgain() {
        Link link = new Link(FAR, 952 * MB);
        link.channelsAllowed = 1;
        link.pass(HOUR);

        assertThat(link.shapes).containsOnlyOnce("4 x 2");
        assertThat(link.tuning.channels()).isEqualTo(1);
        assertThat(link.rate()).isGreaterThan(0.9 * 952 * MB);
    }

    @Test
    void neverMoreLanesThanAllowed() {
        assertThat(first(NEAR, 3, 96)).isEqualTo("3 x 1");
        Link link = new Link(FAR, 10_000 * MB);
        link.tuning = new Tuning(FAR, 1, 96, new Unknown());
        link.pass(60);
        assertThat(link.tuning.lanes()).isEqualTo(1);
    }

    private static String first(long roundTripNanos, int lanesMax, int cores) {
        return shape(new Tuning(roundTripNanos, lanesMax, cores, new Unknown()));
    }

    private static String first(long roundTripNanos, int lanesMax, int cores, double bytesPerSecond) {
        return shape(new Tuning(roundTripNanos, lanesMax, cores, new Carried(bytesPerSecond)));
    }

    private static String shape(Tuning tuning) {
        return tuning.lanes() + " x " + tuning.channels();
    }

    /** A link that carries what its rate and the windows allow. */
    private static final class Link {

        private final long roundTripNanos;
        private double bytesPerSecond;
        private double bytesPerSecondOfALane = Double.POSITIVE_INFINITY;
        private int lanesAllowed = Integer.MAX_VALUE;
        private int channelsAllowed = Integer.MAX_VALUE;
        private Random noise;
        private Tuning tuning;
        private final List<TuningReason> reasons = new ArrayList<>();
        private final List<String> shapes = new ArrayList<>();
        private final List<Double> rates = new ArrayList<>();

        Link(long roundTripNanos, double bytesPerSecond) {
            this.roundTripNanos = roundTripNanos;
            this.bytesPerSecond = bytesPerSecond;
            this.tuning = new Tuning(roundTripNanos, 64, 8, new Unknown());
            shapes.add(shape());
        }

        String shape() {
            return TuningTest.shape(tuning);
        }

        double window() {
            return Tuning.WINDOW_BYTES * 1e9 / roundTripNanos;
        }

        double rate() {
            return Math.min(bytesPerSecond, tuning.lanes() * Math.min(bytesPerSecondOfALane, channels() * window()));
        }

        private int channels() {
            return Math.min(channelsAllowed, tuning.channels());
        }

        double meanOfLast(int seconds) {
            return rates.subList(rates.size() - seconds, rates.size()).stream()
                    .mapToDouble(Double::doubleValue)
                    .average()
                    .orElseThrow();
        }

        void pass(int seconds) {
            for (int i = 0; i < seconds; i++) {
                double noisy = rate() * (noise == null ? 1 : 0.9 + 0.2 * noise.nextDouble());
                rates.add(noisy);
                var step = tuning.lanes() > lanesAllowed
                        ? tuning.refused(lanesAllowed)
                        : tuning.measured(noisy, tuning.lanes() * channels());
                step.ifPresent(each -> {
                    reasons.add(each.reason());
                    if (!shape().equals(shapes.getLast())) {
                        shapes.add(shape());
                    }
                });
            }
        }
    }
}
