package dozo.plan;

import java.util.Arrays;
import java.util.List;

/**
 * Finds the cost model that measurements tell of. First the model it begins with is made slower or faster by the median of
 * what measurements took beside what it says: one odd night changes nothing. Then its two constants are moved by
 * least squares of relative errors, held to where they were by a weight: measurements of one mix of sizes cannot tell what of their
 * time was for bytes and what for entries, and then both stay in the proportion they had.
 */
public final class CostFit {

    /** How much of a measurement's weight holds each constant where it was. */
    private static final double HOLD = 0.05;

    /** A constant is not moved further than this from where the median has it. */
    private static final double FACTOR_MAX = 100;

    /** A measurement that is off the median by more than this says nothing of the rest: a stalled site, a cut. */
    private static final double ODD = 4;

    private CostFit() {}

    /** The model; without measurements the one it begins with. */
    public static CostModel of(CostModel begin, List<Measurement> measurements) {
        if (measurements.isEmpty()) {
            return begin;
        }
        double median = median(measurements.stream()
                .mapToDouble(each -> each.laneSeconds() / begin.seconds(each.work()))
                .toArray());
        double secondsPerByte = median / begin.bytesPerSecond();
        double secondsPerEntry = median * begin.secondsPerEntry();
        double[] factors = factors(
                secondsPerByte,
                secondsPerEntry,
                measurements.stream()
                        .filter(each -> isUsual(each.laneSeconds() / begin.seconds(each.work()) / median))
                        .toList());
        return new CostModel(
                within(
                        1 / (secondsPerByte * factors[0]),
                        CostModel.BYTES_PER_SECOND_MIN,
                        CostModel.BYTES_PER_SECOND_MAX),
                within(secondsPerEntry * factors[1], 0, CostModel.SECONDS_PER_ENTRY_MAX));
    }

    private static boolean isUsual(double ratio) {
        return ratio <= ODD && ratio >= 1 / ODD;
    }

    /** By what each constant is to be multiplied: minimizes Σ (byteShare·p + entryShare·q − 1)² + hold·((p−1)² + (q−1)²). */
    private static double[] factors(double secondsPerByte, double secondsPerEntry, List<Measurement> measurements) {
        double aa = HOLD;
        double bb = HOLD;
        double ab = 0;
        double a1 = HOLD;
        double b1 = HOLD;
        for (Measurement each : measurements) {
            double a = each.work().bytes() * secondsPerByte / each.laneSeconds();
            double b = each.work().entries() * secondsPerEntry / each.laneSeconds();
            aa += a * a;
            bb += b * b;
            ab += a * b;
            a1 += a;
            b1 += b;
        }
        double determinant = aa * bb - ab * ab;
        double p = (a1 * bb - b1 * ab) / determinant;
        double q = (b1 * aa - a1 * ab) / determinant;
        // Where one would be (nearly) nothing or less, it gets the least there is, and the other the best beside that.
        if (p < 1 / FACTOR_MAX) {
            p = 1 / FACTOR_MAX;
            q = (b1 - ab * p) / bb;
        } else if (q < 1 / FACTOR_MAX) {
            q = 1 / FACTOR_MAX;
            p = (a1 - ab * q) / aa;
        }
        return new double[] {within(p, 1 / FACTOR_MAX, FACTOR_MAX), within(q, 1 / FACTOR_MAX, FACTOR_MAX)};
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        int middle = values.length / 2;
        return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    }

    private static double within(double value, double min, double max) {
        return Math.min(max, Math.max(min, value));
    }
}
