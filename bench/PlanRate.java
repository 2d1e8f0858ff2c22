import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.plan.CostModel;
import dozo.plan.PlannedUnit;
import dozo.plan.Planner;
import dozo.plan.Planner.Limits;
import dozo.plan.UnitKind;
import dozo.plan.Work;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Plans entries with the sizes on standard input, repeated until there are so many. Prints a line of JSON: time, heap
 * in use meanwhile, and the resulting partitions.
 *
 * <p>Arguments: entries, partitions.
 */
final class PlanRate {

    private static final Limits LIMITS = new Limits(32 << 20, 1_000, 64 << 20);
    private static final FilePath PATH = FilePath.of("project/subject/visit/image.dcm");
    private static final int LOOKS = 20;

    private final Facts[] facts;
    private long bundles;
    private long large;
    private long liveBytesMax;

    private PlanRate(long[] sizes) {
        facts = Arrays.stream(sizes)
                .mapToObj(size -> new Facts(EntryKind.FILE, size, 0, 0, 0644, null, null))
                .toArray(Facts[]::new);
    }

    public static void main(String[] arguments) throws Exception {
        int entries = Integer.parseInt(arguments[0]);
        int partitions = Integer.parseInt(arguments[1]);
        long[] sizes = new String(System.in.readAllBytes(), StandardCharsets.US_ASCII)
                .lines()
                .mapToLong(Long::parseLong)
                .toArray();
        new PlanRate(sizes).plan(1_000_000, partitions, false); // warms up
        List<Double> rates = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            rates.add(new PlanRate(sizes).plan(entries, partitions, false)[0]);
        }
        PlanRate looked = new PlanRate(sizes);
        double imbalance = looked.plan(entries, partitions, true)[1];
        System.out.printf(
                "{\"rates\": %s, \"live_bytes\": %d, \"bundles\": %d, \"large\": %d, \"imbalance\": %s}%n",
                rates, looked.liveBytesMax, looked.bundles, looked.large, imbalance);
    }

    /** Returns entries per second, including the time for the preceding sums, and the imbalance. */
    private double[] plan(int entries, int partitions, boolean look) {
        long started = System.nanoTime();
        Work total = upTo(entries, Long.MAX_VALUE);
        long summed = System.nanoTime() - started;
        started = System.nanoTime();
        Planner planner = new Planner(partitions, LIMITS, CostModel.DEFAULT, total, size -> upTo(entries, size));
        for (int i = 0; i < entries; i++) {
            planner.add(new Entry(i + 1, PATH, facts[i % facts.length]), this::take);
            if (look && i % Math.max(1, entries / LOOKS) == 0) {
                look();
            }
        }
        planner.flush(this::take);
        double seconds = (System.nanoTime() - started + summed) / 1e9;
        return new double[] {entries / seconds, planner.imbalance()};
    }

    private Work upTo(int entries, long size) {
        long bytes = 0;
        long count = 0;
        for (int i = 0; i < entries; i++) {
            long each = facts[i % facts.length].sizeBytes();
            bytes += each <= size ? each : 0;
            count += each <= size ? 1 : 0;
        }
        return new Work(bytes, count);
    }

    private void take(PlannedUnit unit) {
        if (unit.kind() == UnitKind.LARGE) {
            large++;
        } else {
            bundles++;
        }
    }

    /** Measures the reachable heap during planning. */
    private void look() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        liveBytesMax = Math.max(liveBytesMax, runtime.totalMemory() - runtime.freeMemory());
    }
}
