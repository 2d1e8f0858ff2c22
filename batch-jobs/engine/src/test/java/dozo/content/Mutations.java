package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Predicate;

/** Damages samples of a format in tests. */
final class Mutations {

    private static final long FUZZ_BYTES = 4_000_000;

    private static final int MAGIC_BYTES = 8;
    private static final int PIECE_BYTES = 499;

    /** Far more than it takes: only a check that is quadratic or never ends needs it. */
    private static final Duration SLOW = Duration.ofSeconds(20);

    private Mutations() {}

    /** Fails unless each length from this one on, up to one byte too few, gives a verdict like this. */
    static void cut(String name, byte[] whole, int from, Predicate<State> expected) {
        for (int length = from; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            Verdict verdict = length % 50 == 0 ? Judged.of(name, cut) : atOnce(name, cut);
            assertThat(expected.test(verdict.state()))
                    .as("%s for %,d of %,d bytes", verdict, length, whole.length)
                    .isTrue();
        }
    }

    /** Returns the verdict on a file that comes in one piece. */
    static Verdict atOnce(String name, byte[] content) {
        Inspection inspection = new Inspection(name, content.length);
        inspection.take(ByteBuffer.wrap(content));
        return inspection.verdict();
    }

    /** Returns the content with zeros from there on. */
    static byte[] zeroed(byte[] whole, int from) {
        byte[] zeroed = whole.clone();
        Arrays.fill(zeroed, from, zeroed.length, (byte) 0);
        return zeroed;
    }

    /** Returns the content with all bits of a byte changed. */
    static byte[] flipped(byte[] whole, int at) {
        byte[] flipped = whole.clone();
        flipped[at] = (byte) ~flipped[at];
        return flipped;
    }

    /** Does so for several samples, whose first bytes are the magic. */
    static void fuzz(Format format, String name, byte[]... samples) {
        for (byte[] sample : samples) {
            fuzz(format, name, sample, Math.min(MAGIC_BYTES, sample.length));
        }
    }

    /** Fails if the check of some changed sample, or of random bytes behind its first ones, throws or takes long. */
    static void fuzz(Format format, String name, byte[] sample, int magicBytes) {
        Random random = new Random(sample.length);
        long started = System.nanoTime();
        for (long bytes = 0; bytes < FUZZ_BYTES; bytes += sample.length) {
            byte[] changed = sample.clone();
            if (random.nextInt(4) == 0) {
                random.nextBytes(changed);
                System.arraycopy(sample, 0, changed, 0, magicBytes);
            }
            for (int i = random.nextInt(6); i > 0; i--) {
                // Few values are as bad as the largest and the smallest numbers.
                int place = random.nextInt(changed.length);
                changed[place] = (byte) new int[] {0, 0xFF, 0x7F, 0x80, random.nextInt()}[random.nextInt(5)];
            }
            check(format, name, changed);
            assertThat(Duration.ofNanos(System.nanoTime() - started)).isLessThan(SLOW);
        }
    }

    private static void check(Format format, String name, byte[] content) {
        ByteBuffer first = ByteBuffer.wrap(content, 0, Math.min(content.length, Beginning.BYTES));
        Check check = format.check(new Beginning(first.slice().asReadOnlyBuffer(), content.length, name));
        if (check == null) {
            return;
        }
        try {
            for (int at = 0; at < content.length; at += PIECE_BYTES) {
                check.take(ByteBuffer.wrap(content, at, Math.min(PIECE_BYTES, content.length - at)));
            }
            assertThat(check.judge().state()).isEqualTo(State.WHOLE);
        } catch (NotWhole why) {
            assertThat(why.verdict("").state()).isNotEqualTo(State.WHOLE);
        } catch (RuntimeException defect) {
            fail("a check threw", defect);
        }
    }
}
