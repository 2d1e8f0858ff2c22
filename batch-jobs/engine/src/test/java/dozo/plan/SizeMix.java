package dozo.plan;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Sizes as in an imaging centre's tree, thinned above 1 MB so that 5,000 files are 2.1 GB: 98 % of them are below 1 MB
 * and hold less than half of the bytes; two are longer than 100 MB. Within a bin they are spread evenly over the
 * logarithm.
 */
final class SizeMix {

    private static final double[][] BINS = {
        {0.2358, 200, 10e3},
        {0.2882, 10e3, 100e3},
        {0.46, 100e3, 1e6},
        {0.0136, 1e6, 10e6},
        {0.002, 10e6, 100e6},
        {0.0004, 100e6, 625e6}
    };

    private SizeMix() {}

    /** Returns this many sizes, shuffled. */
    static long[] of(int files, long seed) {
        Random dice = new Random(seed);
        List<Long> sizes = new ArrayList<>();
        for (double[] bin : BINS) {
            int count = (int) Math.round(files * bin[0]);
            for (int i = 0; i < count; i++) {
                sizes.add((long) (bin[1] * Math.pow(bin[2] / bin[1], (i + dice.nextDouble()) / count)));
            }
        }
        Collections.shuffle(sizes, dice);
        return sizes.stream().mapToLong(Long::longValue).toArray();
    }
}
