package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.plan.Planner.Limits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every entry is in one unit, and no partition has noticeably more work than another, for any entries in any order. */
class PlannerTest {

    private static final Limits LIMITS = new Limits(100, 10, 2_000);

    /** The limits of a run. */
    private static final Limits USUAL = new Limits(32 << 20, 1_000, 64 << 20);

    private static final long SMALL = 1 << 20;
    private static final double ROUNDING = 1e-9;

    @Test
    void smallEntriesGoTogetherUntilTheBundleIsFull() {
        List<PlannedUnit> units = plan(1, 40, 40, 40, 0, 100, 101);

        assertThat(units)
                .extracting(unit -> Arrays.toString(unit.entryNumbers()))
                .containsExactly("[1, 2]", "[3, 4]", "[5]", "[6]");
        assertThat(units).extracting(PlannedUnit::lengthBytes).containsExactly(80L, 40L, 100L, 101L);
    }

    @Test
    void aBundleHasAtMostSoManyEntries() {
        assertThat(plan(1, new long[25]))
                .extracting(unit -> unit.entryNumbers().length)
                .containsExactly(10, 10, 5);
    }

    @Test
    void aFileOfTheLimitGoesInABundleAndOneByteMoreByItself() {
        assertThat(plan(1, 2_000)).extracting(PlannedUnit::kind).containsExactly(UnitKind.BUNDLE);
        assertThat(plan(1, 5, 2_001, 6))
                .extracting(PlannedUnit::kind, unit -> Arrays.toString(unit.entryNumbers()), PlannedUnit::lengthBytes)
                .containsExactly(tuple(UnitKind.LARGE, "[2]", 2_001L), tuple(UnitKind.BUNDLE, "[1, 3]", 11L));
    }

    @Test
    void everyEntryIsInExactlyOneUnit() {
        long[] sizes = new Random(3).longs(5_000, 0, 6_000).toArray();
        List<PlannedUnit> units = plan(4, sizes);

        assertThat(units.stream()
                        .flatMapToInt(unit -> Arrays.stream(unit.entryNumbers()))
                        .sorted())
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 5_000).boxed().toList());
        assertThat(units.stream().mapToLong(PlannedUnit::lengthBytes).sum())
                .isEqualTo(Arrays.stream(sizes).sum());
    }

    /** By itself, its largest file is more than twice the work of each of sixteen partitions. */
    @ParameterizedTest
    @ValueSource(ints = {4, 8, 16})
    void theMixedDataSetIsSharedOutToWithinOnePercent(int partitions) {
        for (long seed = 1; seed <= 20; seed++) {
            long[] sizes = SizeMix.of(5_000, seed);
            assertThat(Arrays.stream(sizes).sum()).isBetween(1_800_000_000L, 2_700_000_000L);
            for (long[] order : List.of(sizes, ascending(sizes), descending(sizes))) {
                Planner planner = planned(partitions, USUAL, CostModel.DEFAULT, unit -> {}, order);

                assertThat(planner.imbalance()).as("seed %d", seed).isBetween(0.0, 0.01);
            }
        }
    }

    @Test
    void noPartitionExceedsTheMeanByMoreThanOnePercentOrOneSmallFile() {
        long seed = System.nanoTime();
        Random dice = new Random(seed);
        for (int i = 0; i < 400; i++) {
            int partitions = 1 + dice.nextInt(24);
            CostModel cost = new CostModel(Math.pow(10, 6 + 3 * dice.nextDouble()), dice.nextDouble() / 100);
            Limits limits = new Limits(
                    1 + dice.nextInt(64 << 20), 1 + dice.nextInt(2_000), (64 << 10) + dice.nextInt(128 << 20));
            long[] sizes = sizes(dice);

            Planner planner = planned(partitions, limits, cost, unit -> {}, sizes);

            double[] seconds = seconds(planner, partitions);
            double mean = Arrays.stream(seconds).average().orElseThrow();
            double more = Math.max(mean / 100, cost.seconds(SMALL, 1));
            assertThat(Arrays.stream(seconds).max().orElseThrow())
                    .as("seed %d, plan %d: %d partitions, %s, %s", seed, i, partitions, cost, limits)
                    .isLessThanOrEqualTo((mean + more) * (1 + ROUNDING));
            assertThat(mean * partitions)
                    .isCloseTo(cost.seconds(work(sizes)), org.assertj.core.data.Percentage.withPercentage(1e-6));
        }
    }

    /** There are few units for any slicing: the last ones are small, the first ones are not. */
    @Test
    void balanceCostsFewUnits() {
        AtomicInteger units = new AtomicInteger();

        planned(16, USUAL, CostModel.DEFAULT, unit -> units.incrementAndGet(), SizeMix.of(5_000, 1));

        assertThat(units.get()).isLessThan(300);
    }

    @Test
    void mediumFilesGoInBundlesAlsoWhereThereIsNothingSmaller() {
        List<PlannedUnit> units = new ArrayList<>();

        planned(
                4,
                USUAL,
                CostModel.DEFAULT,
                units::add,
                LongStream.generate(() -> 2_000_000).limit(10_000).toArray());

        assertThat(units).extracting(PlannedUnit::kind).containsOnly(UnitKind.BUNDLE);
        assertThat(units).hasSizeLessThan(1_500);
    }

    @Test
    void aLargeFileIsWorkOfEveryPartitionAndLargeFilesAreClaimedByAll() {
        List<PlannedUnit> units = new ArrayList<>();

        Planner planner = planned(3, USUAL, CostModel.DEFAULT, units::add, 1L << 30, 1L << 30, 1L << 30);

        assertThat(units).extracting(PlannedUnit::partition).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(seconds(planner, 3))
                .containsOnly(new double[] {CostModel.DEFAULT.seconds(1L << 30, 1)}, within(ROUNDING));
        assertThat(planner.imbalance()).isCloseTo(0, within(ROUNDING));
    }

    @Test
    void theFirstPassIsNotAskedWhereThereIsPlenty() {
        Work plenty = new Work(200_000_000_000L, 1_000_000);

        Planner planner = new Planner(4, USUAL, CostModel.DEFAULT, plenty, upTo -> {
            throw new AssertionError("asked for files up to " + upTo);
        });

        assertThat(planner.imbalance()).isZero();
    }

    @Test
    void whatIsForetoldWrongIsPlannedAllTheSame() {
        long[] sizes = SizeMix.of(2_000, 7);
        for (Work told : List.of(Work.NONE, new Work(1L << 50, 1 << 30))) {
            List<PlannedUnit> units = new ArrayList<>();
            Planner planner = new Planner(4, USUAL, CostModel.DEFAULT, told, upTo -> told);
            addAll(planner, units::add, sizes);

            assertThat(units.stream().mapToLong(PlannedUnit::lengthBytes).sum())
                    .isEqualTo(Arrays.stream(sizes).sum());
            double[] seconds = seconds(planner, 4);
            assertThat(Arrays.stream(seconds).max().orElseThrow()
                            - Arrays.stream(seconds).min().orElseThrow())
                    .as("within one unit of each other")
                    .isLessThanOrEqualTo(USUAL.unitSeconds(CostModel.DEFAULT));
        }
    }

    @Test
    void nothingToDoIsInBalance() {
        assertThat(planned(4, USUAL, CostModel.DEFAULT, unit -> {}).imbalance()).isZero();
        assertThat(planned(4, USUAL, new CostModel(1e9, 0), unit -> {}, 0, 0, 0).imbalance())
                .isZero();
    }

    @Test
    void refusesNonsense() {
        assertThatThrownBy(() -> planned(0, LIMITS, CostModel.DEFAULT, unit -> {}))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Limits(0, 1, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Work(-1, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Work(Long.MAX_VALUE, 0).plus(new Work(1, 0)))
                .isInstanceOf(ArithmeticException.class);
    }

    private static List<PlannedUnit> plan(int partitions, long... sizes) {
        List<PlannedUnit> units = new ArrayList<>();
        planned(partitions, LIMITS, CostModel.DEFAULT, units::add, sizes);
        return units;
    }

    /** Returns a planner that was told of these files and then received them. */
    private static Planner planned(
            int partitions, Limits limits, CostModel cost, Consumer<PlannedUnit> units, long... sizes) {
        Planner planner = new Planner(
                partitions,
                limits,
                cost,
                work(sizes),
                upTo -> work(Arrays.stream(sizes).filter(size -> size <= upTo).toArray()));
        addAll(planner, units, sizes);
        return planner;
    }

    private static void addAll(Planner planner, Consumer<PlannedUnit> units, long... sizes) {
        for (int i = 0; i < sizes.length; i++) {
            planner.add(file(i + 1, sizes[i]), units);
        }
        planner.flush(units);
    }

    private static Work work(long... sizes) {
        return new Work(Arrays.stream(sizes).sum(), sizes.length);
    }

    private static double[] seconds(Planner planner, int partitions) {
        return IntStream.range(0, partitions).mapToDouble(planner::seconds).toArray();
    }

    /** Returns sizes from 0 to 1 GB, in one of several mixes and orders. */
    private static long[] sizes(Random dice) {
        int count = dice.nextInt(3_000);
        double orders = 2 + 7 * dice.nextDouble();
        long[] sizes = dice.doubles(count)
                .mapToLong(x -> (long) Math.pow(10, orders * x))
                .toArray();
        return switch (dice.nextInt(3)) {
            case 0 -> sizes;
            case 1 -> ascending(sizes);
            default -> descending(sizes);
        };
    }

    private static long[] ascending(long... sizes) {
        return Arrays.stream(sizes).sorted().toArray();
    }

    private static long[] descending(long... sizes) {
        return Arrays.stream(sizes)
                .map(size -> -size)
                .sorted()
                .map(size -> -size)
                .toArray();
    }

    private static Entry file(int number, long size) {
        return new Entry(number, FilePath.of("f" + number), new Facts(EntryKind.FILE, size, 0, 0, 0644, null, null));
    }
}
