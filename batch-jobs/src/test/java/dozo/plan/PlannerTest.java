package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.plan.Planner.Limits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlannerTest {

    private static final Limits LIMITS = new Limits(100, 10, 2_000);

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

    @Test
    void partitionsEndWithinOneUnitOfEachOther() {
        CostModel cost = new CostModel(1_000, 0.01);
        Planner planner = new Planner(7, LIMITS, cost);
        long[] sizes = new Random(5).longs(20_000, 0, 9_000).toArray();
        for (int i = 0; i < sizes.length; i++) {
            planner.add(file(i + 1, sizes[i]), unit -> {});
        }
        planner.flush(unit -> {});

        double[] seconds = IntStream.range(0, 7).mapToDouble(planner::seconds).toArray();
        double largestUnit = cost.seconds(9_000, 10);
        assertThat(Arrays.stream(seconds).max().orElseThrow()
                        - Arrays.stream(seconds).min().orElseThrow())
                .isLessThanOrEqualTo(largestUnit);
    }

    @Test
    void refusesNonsense() {
        assertThatThrownBy(() -> new Planner(0, LIMITS, CostModel.DEFAULT))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Limits(0, 1, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new CostModel(0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new CostModel(1, -1)).isInstanceOf(IllegalArgumentException.class);
    }

    private static List<PlannedUnit> plan(int partitions, long... sizes) {
        Planner planner = new Planner(partitions, LIMITS, CostModel.DEFAULT);
        List<PlannedUnit> units = new ArrayList<>();
        for (int i = 0; i < sizes.length; i++) {
            planner.add(file(i + 1, sizes[i]), units::add);
        }
        planner.flush(units::add);
        return units;
    }

    private static Entry file(int number, long size) {
        return new Entry(number, FilePath.of("f" + number), new Facts(EntryKind.FILE, size, 0, 0, 0644, null, null));
    }
}
