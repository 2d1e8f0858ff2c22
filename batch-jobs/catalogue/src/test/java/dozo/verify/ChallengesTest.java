package dozo.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** 688 draws notice that 1 % of the bytes is gone with a chance of at least 99.9 %. */
class ChallengesTest {

    private static final int DRAWS = 688;

    @Test
    void oneDrawLessWouldNotBeEnough() {
        assertThat(1 - Math.pow(0.99, DRAWS)).isGreaterThanOrEqualTo(0.999);
        assertThat(1 - Math.pow(0.99, DRAWS - 1)).isLessThan(0.999);
    }

    @Test
    void onePercentThatIsGoneIsNoticedIn999Of1000Scrubs() {
        Random random = new Random(57);
        // Files of very different sizes, of which those are gone that together have 1 % of the bytes.
        long[] sizes = random.longs(20_000, 0, 24)
                .map(power -> 1L << power)
                .map(size -> size + random.nextLong(size))
                .toArray();
        long total = Arrays.stream(sizes).sum();
        boolean[] gone = new boolean[sizes.length];
        long lost = 0;
        for (int i : random.ints(200_000, 0, sizes.length).toArray()) {
            if (!gone[i] && lost + sizes[i] <= total / 100) {
                gone[i] = true;
                lost += sizes[i];
            }
        }
        assertThat((double) lost / total).isBetween(0.0099, 0.01);
        long[] ends = sizes.clone();
        Arrays.parallelPrefix(ends, Long::sum);

        long noticed = IntStream.range(0, 1_000)
                .filter(_ -> Arrays.stream(Challenges.positions(total, DRAWS, random))
                        .anyMatch(position -> gone[file(ends, position)]))
                .count();

        assertThat(noticed).isGreaterThanOrEqualTo(999);
    }

    private static int file(long[] ends, long position) {
        int at = Arrays.binarySearch(ends, position + 1);
        return at >= 0 ? at : -at - 1;
    }

    @Test
    void nothingIsDrawnOfNothing() {
        assertThat(Challenges.positions(0, DRAWS, new Random(1))).isEmpty();
    }
}
