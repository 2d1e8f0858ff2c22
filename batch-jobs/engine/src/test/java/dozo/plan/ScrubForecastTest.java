package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dozo.plan.ScrubForecast.Layer;
import dozo.plan.ScrubForecast.Need;
import dozo.plan.ScrubForecast.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An age is promised only if reading the oldest first within the budget keeps it. */
class ScrubForecastTest {

    private static final Instant NOW = Instant.parse("2026-11-21T00:00:00Z");
    private static final double DAY = 86_400;
    private static final long TB = 1_000_000_000_000L;

    /** 1.27 PiB in 482,977,782 files, as if all of it had just been verified. */
    private static final List<Layer> CENTRE =
            List.of(new Layer(NOW, new Work((long) (1.27 * (1L << 50)), 482_977_782L)));

    private static final CostModel QUICK = new CostModel(1e9, 0);

    @Test
    void theCentresTreeIn90DaysNeeds184MegabytesAndSixtyTwoFilesASecond() {
        ScrubForecast forecast = forecast(CENTRE, 90, budget(300_000_000L, 24), new CostModel(1e9, 0.001));

        assertThat(forecast.verdict()).isEqualTo(Verdict.KEPT);
        assertThat(forecast.bytesPerSecondNeeded()).isCloseTo(183.9e6, within(0.1e6));
        assertThat(forecast.filesPerSecondNeeded()).isCloseTo(62.1, within(0.1));
        assertThat(forecast.rounds().seconds() / DAY).isCloseTo(55.2, within(0.1));
        assertThat(forecast.remedy().bytesPerSecond()).isCloseTo(183_883_000L, within(100_000L));
    }

    @Test
    void smallFilesDecideWhatALimitCannot() {
        ScrubForecast forecast = forecast(CENTRE, 90, budget(300_000_000L, 24), new CostModel(1e9, 0.020));

        assertThat(forecast.verdict()).isEqualTo(Verdict.BROKEN);
        assertThat(forecast.rounds().seconds() / DAY).isCloseTo(128.4, within(0.5));
        assertThat(forecast.remedy().bytesPerSecond()).as("no limit helps").isNull();
        assertThat(forecast.remedy().secondsADay()).as("nor a longer window").isNull();
        assertThat(forecast.remedy().maxAgeSeconds() / DAY).isCloseTo(128.4, within(0.5));
    }

    @Test
    void aWindowMultipliesWhatIsNeeded() {
        ScrubForecast forecast = forecast(CENTRE, 90, budget(300_000_000L, 10), QUICK);

        assertThat(forecast.verdict()).isEqualTo(Verdict.BROKEN);
        assertThat(forecast.bytesPerSecondNeeded()).isCloseTo(441.3e6, within(0.1e6));
        assertThat(forecast.remedy().bytesPerSecond()).isBetween(441_300_000L, 446_500_000L);
        assertThat(forecast.remedy().secondsADay() / 3_600.0).isCloseTo(14.8, within(0.2));
        assertThat(forecast.remedy().maxAgeSeconds() / DAY).isCloseTo(133, within(1.0));
    }

    @Test
    void whatReadingCostsIsNotAssumed() {
        assertThat(forecast(CENTRE, 90, budget(300_000_000L, 24), null).verdict())
                .isEqualTo(Verdict.UNKNOWN);
        assertThat(forecast(CENTRE, 90, budget(null, 24), null).verdict()).isEqualTo(Verdict.UNKNOWN);
        assertThat(forecast(CENTRE, 90, budget(100_000_000L, 24), null).verdict())
                .as("the limit alone breaks it, however fast the site is")
                .isEqualTo(Verdict.BROKEN);
        assertThat(forecast(List.of(), 90, budget(null, 24), null).verdict())
                .as("of nothing, everything is read")
                .isEqualTo(Verdict.KEPT);
    }

    @Test
    void whatWaitsAlreadyIsLateAtFirst() {
        List<Layer> layers = List.of(layer(89, 9 * TB), layer(10, 90 * TB));

        ScrubForecast forecast = forecast(layers, 90, budget(100_000_000L, 24), QUICK);

        assertThat(forecast.verdict()).isEqualTo(Verdict.LATE_AT_FIRST);
        assertThat(forecast.rounds().seconds() / DAY).isCloseTo(11.46, within(0.01));
        assertThat(forecast.rounds().firstAgeSeconds() / DAY).isCloseTo(90.04, within(0.01));
        assertThat(Duration.between(NOW, forecast.rounds().firstAgeAt()).toSeconds() / DAY)
                .isCloseTo(1.04, within(0.01));
        assertThat(forecast.remedy().bytesPerSecond()).isCloseTo(104_166_667L, within(1_000L));
        assertThat(forecast.remedy().secondsADay())
                .as("the whole day is not enough")
                .isNull();
        assertThat(forecast.remedy().maxAgeSeconds() / DAY).isCloseTo(90.04, within(0.01));
    }

    @Test
    void whatIsOverdueIsHelpedByAnAgeAlone() {
        ScrubForecast forecast = forecast(List.of(layer(100, TB)), 90, budget(null, 24), QUICK);

        assertThat(forecast.verdict()).isEqualTo(Verdict.LATE_AT_FIRST);
        assertThat(forecast.remedy().bytesPerSecond()).isNull();
        assertThat(forecast.remedy().secondsADay()).isNull();
        assertThat(forecast.remedy().maxAgeSeconds() / DAY).isCloseTo(100.01, within(0.01));
    }

    @Test
    void aClockThatWentBackMakesNothingYounger() {
        ScrubForecast ahead = forecast(List.of(layer(-3, TB)), 90, budget(null, 24), QUICK);
        ScrubForecast now = forecast(List.of(layer(0, TB)), 90, budget(null, 24), QUICK);

        assertThat(ahead.rounds()).isEqualTo(now.rounds());
    }

    @Test
    void aRoundOfAnHourIsStillBegunOnlyOnceADay() {
        ScrubForecast forecast = forecast(List.of(layer(0, 3_600_000_000_000L)), 2, budget(null, 24), QUICK);

        assertThat(forecast.rounds().readingSeconds()).isCloseTo(3_600, within(1.0));
        assertThat(forecast.rounds().seconds()).isCloseTo(DAY + 3_600, within(1.0));
        assertThat(forecast.verdict()).isEqualTo(Verdict.KEPT);
    }

    @Test
    void absurdBudgetsAreForecastToo() {
        ScrubForecast drop = forecast(CENTRE, 90, budget(1L, 24), QUICK);
        assertThat(drop.verdict()).isEqualTo(Verdict.BROKEN);
        assertThat(drop.remedy().bytesPerSecond()).isNotNull();

        ScrubForecast all = forecast(List.of(layer(0, Long.MAX_VALUE)), 90, budget(1L, 24), QUICK);
        assertThat(all.verdict()).isEqualTo(Verdict.BROKEN);
        assertThat(all.remedy().bytesPerSecond())
                .as("the site reads 1 GB a second")
                .isNull();
        assertThat(forecast(CENTRE, 90, budget(Long.MAX_VALUE, 24), QUICK).verdict())
                .isEqualTo(Verdict.KEPT);
    }

    @ParameterizedTest(name = "{0} TB at {1} MB/s, oldest of {2} days: {3}")
    @CsvSource(
            nullValues = "-",
            value = {
                // a round of little takes at most a day, and there are 18 days for what comes due at once
                "1, 100, 71.9, NOTHING",
                "1, 100, 72, DUE",
                // 16.9 days of reading, and one to begin
                "146, 100, 1, NOTHING",
                "148, 100, 1, EVERYTHING",
                // while the cost of reading is unknown
                "1, -, 8.9, NOTHING",
                "1, -, 9, EVERYTHING",
                "0, -, 100, NOTHING",
                "0, 100, 100, NOTHING"
            })
    void whatIsReadInTimeIsReadWhenItIsDueAndAllElseAlways(
            long terabytes, Double megabytesPerSecond, double days, Need need) {
        List<Layer> layers = terabytes == 0 ? List.of() : List.of(layer(0, terabytes * TB));
        CostModel cost = megabytesPerSecond == null ? null : new CostModel(1e6 * megabytesPerSecond, 0);

        assertThat(forecast(layers, 90, budget(null, 24), cost).need(Duration.ofSeconds(Math.round(days * DAY))))
                .isEqualTo(need);
    }

    @ParameterizedTest
    @CsvSource({"PT0S", "PT-1H", "PT59M59S", "P3661D"})
    void anAgeThatCannotBePromisedIsRefused(Duration maxAge) {
        assertThatThrownBy(() -> ScrubForecast.of(CENTRE, NOW, maxAge, budget(null, 24), QUICK))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 h to 3660 d");
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {"0, 86400", "-1, 86400", "-, 0", "-, 59", "-, 86401", "-, -1"})
    void aBudgetThatCannotBeIsRefused(Long bytesPerSecond, int secondsADay) {
        assertThatThrownBy(() -> new ReadingBudget(bytesPerSecond, secondsADay))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /**
     * Simulates reading copy after copy, from every hour of the day, and compares the greatest ages with the forecast.
     */
    @Test
    void noQueueGetsOlderThanIsForecastAndTheWorstGetsAsOld() {
        for (int seed = 0; seed < 150; seed++) {
            Random random = new Random(seed);
            List<Layer> layers = randomLayers(random);
            ReadingBudget budget =
                    budget(random.nextBoolean() ? null : 1 + random.nextLong(100_000_000L), 1 + random.nextInt(24));
            CostModel cost = new CostModel(1e6 * (1 + random.nextInt(1_000)), random.nextDouble() / 20);

            ScrubForecast forecast = forecast(layers, 90, budget, cost);

            double worst = 0;
            for (int hour = 0; hour < 24; hour++) {
                worst = Math.max(worst, greatestAge(layers, budget, cost, 3_600.0 * hour, 1));
            }
            assertThat(forecast.rounds().firstAgeSeconds())
                    .as("seed %d, first round", seed)
                    .isGreaterThanOrEqualTo(worst - 1)
                    .isLessThanOrEqualTo(worst + 1);
        }
    }

    @Test
    void noLaterRoundLastsLongerThanIsForecast() {
        for (int seed = 0; seed < 100; seed++) {
            Random random = new Random(seed);
            List<Layer> fresh = randomLayers(random).stream()
                    .map(layer -> new Layer(NOW, layer.work()))
                    .toList();
            ReadingBudget budget = budget(null, 1 + random.nextInt(24));
            CostModel cost = new CostModel(1e6 * (1 + random.nextInt(300)), random.nextDouble() / 20);

            double forecast = forecast(fresh, 90, budget, cost).rounds().seconds();

            for (int hour = 0; hour < 24; hour += 3) {
                assertThat(greatestAge(fresh, budget, cost, 3_600.0 * hour, 4))
                        .as("seed %d, hour %d", seed, hour)
                        .isLessThanOrEqualTo(forecast + 1);
            }
        }
    }

    @Test
    void whatWouldDoDoesAndALittleLessDoesNot() {
        int limits = 0;
        int windows = 0;
        for (int seed = 0; seed < 400; seed++) {
            Random random = new Random(seed);
            List<Layer> layers = randomLayers(random);
            ReadingBudget budget = budget(1 + random.nextLong(2_000_000L), 1 + random.nextInt(24));
            CostModel cost = new CostModel(1e6 * (1 + random.nextInt(100)), random.nextDouble() / 100);
            ScrubForecast forecast = forecast(layers, 30, budget, cost);
            boolean later = forecast.verdict() == Verdict.BROKEN;

            Long limit = forecast.remedy().bytesPerSecond();
            if (limit != null) {
                limits++;
                assertThat(isKept(layers, budget(limit, budget.secondsADay() / 3_600), cost, later))
                        .as("seed %d, limit %d", seed, limit)
                        .isTrue();
                assertThat(limit == 1 || !isKept(layers, budget(limit - 1, budget.secondsADay() / 3_600), cost, later))
                        .as("seed %d, less than limit %d", seed, limit)
                        .isTrue();
            }
            Integer open = forecast.remedy().secondsADay();
            if (open != null) {
                windows++;
                assertThat(isKept(layers, new ReadingBudget(budget.bytesPerSecond(), open), cost, later))
                        .as("seed %d, %d s", seed, open)
                        .isTrue();
                assertThat(open == 60
                                || !isKept(layers, new ReadingBudget(budget.bytesPerSecond(), open - 60), cost, later))
                        .as("seed %d, less than %d s", seed, open)
                        .isTrue();
            }
            long age = forecast.remedy().maxAgeSeconds();
            if (age >= 3_600 && age <= 3_660 * (long) DAY) {
                assertThat(ScrubForecast.of(layers, NOW, Duration.ofSeconds(age), budget, cost)
                                .verdict())
                        .as("seed %d, age %d", seed, age)
                        .isEqualTo(Verdict.KEPT);
            }
        }
        assertThat(limits).isGreaterThan(50);
        assertThat(windows).isGreaterThan(50);
    }

    private static boolean isKept(List<Layer> layers, ReadingBudget budget, CostModel cost, boolean later) {
        Verdict verdict = forecast(layers, 30, budget, cost).verdict();
        return verdict == Verdict.KEPT || (later && verdict == Verdict.LATE_AT_FIRST);
    }

    /** Returns the greatest age of any copy, reading the oldest first; the day's reading begins at midnight. */
    private static double greatestAge(
            List<Layer> layers, ReadingBudget budget, CostModel cost, double secondOfDay, int rounds) {
        Deque<double[]> queue = new ArrayDeque<>();
        for (Layer layer : layers) {
            double limited = budget.bytesPerSecond() == null
                    ? 0
                    : layer.work().bytes() / budget.bytesPerSecond().doubleValue();
            queue.add(new double[] {
                secondOfDay - Duration.between(layer.lastReadAt(), NOW).toMillis() / 1e3,
                Math.max(limited, cost.seconds(layer.work()))
            });
        }
        double greatest = 0;
        // From the worst moment, to within a second: the day's reading has just ended.
        double clock = secondOfDay;
        for (int i = 0; i < rounds * layers.size(); i++) {
            double[] copy = queue.removeFirst();
            clock = readUntil(clock, copy[1], budget.secondsADay());
            greatest = Math.max(greatest, clock - copy[0]);
            queue.addLast(new double[] {clock, copy[1]});
        }
        return greatest;
    }

    private static double readUntil(double from, double seconds, int open) {
        double clock = from;
        double left = seconds;
        while (left > 0) {
            double ofDay = clock % DAY;
            if (ofDay >= open) {
                clock += DAY - ofDay;
            } else {
                double now = Math.min(left, open - ofDay);
                clock += now;
                left -= now;
                left = left < 1e-6 ? 0 : left;
            }
        }
        return clock;
    }

    private static List<Layer> randomLayers(Random random) {
        List<Layer> layers = new ArrayList<>();
        for (int i = 0; i < 1 + random.nextInt(40); i++) {
            layers.add(new Layer(
                    NOW.minusSeconds(random.nextInt(50 * 86_400)),
                    new Work(
                            random.nextLong(1L << (10 + random.nextInt(32))),
                            random.nextInt(1 << random.nextInt(22)))));
        }
        layers.sort(Comparator.comparing(Layer::lastReadAt));
        return layers;
    }

    private static ScrubForecast forecast(List<Layer> layers, int days, ReadingBudget budget, CostModel cost) {
        return ScrubForecast.of(layers, NOW, Duration.ofDays(days), budget, cost);
    }

    private static ReadingBudget budget(Long bytesPerSecond, int hoursADay) {
        return new ReadingBudget(bytesPerSecond, hoursADay * 3_600);
    }

    private static Layer layer(int days, long bytes) {
        return new Layer(NOW.minus(Duration.ofDays(days)), new Work(bytes, 1));
    }
}
