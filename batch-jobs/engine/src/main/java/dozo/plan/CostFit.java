package dozo.plan;

import java.util.Arrays;
import java.util.List;

/**
 * Fits a cost model to measurements. First the initial model is scaled by the median ratio of measured to predicted
 * time: one unusual night changes nothing. Then its two constants are adjusted by least squares of relative errors,
 * with a weight that holds them in place: measurements of one mix of sizes cannot separate the time for bytes from the
 * time for entries, and then both keep their proportion.
 */
public final class CostFit {

    /** How much of a measurement's weight holds each constant in place. */
    private static final double HOLD = 0.05;

    /** No constant is moved further than this from its value after the median. */
    private static final double FACTOR_MAX = 100;

    /** Measurements further than this from the median are ignored: a stalled site, a broken connection. */
    private static final double ODD = 4;

    private CostFit() {}

    /** Returns the fitted model; without measurements the initial one. */
    public static CostModel of(CostModel begin, List<Measurement> measurements) {
        if (measurements.isEmpty()) {
            return begin;
        }
        double median = median(
                measurements.stream().mapToDouble(each -> each.factor(begin)).toArray());
        double secondsPerByte = median / begin.bytesPerSecond();
        double secondsPerEntry = median * begin.secondsPerEntry();
        double[] factors = factors(
                secondsPerByte,
                secondsPerEntry,
                measurements.stream()
                        .filter(each -> isUsual(each.factor(begin) / median))
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

    /** Returns the factor of each constant: minimizes Σ (byteShare·p + entryShare·q − 1)² + hold·((p−1)² + (q−1)²). */
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
        // If one would be almost 0 or negative, it gets the minimum, and the other the best value for that.
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
