package dozo.content;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

/** Damages samples at random, always the same ones. */
final class Damage {

    /** All bytes that {@link #fuzz} judges. */
    private static final int BYTES = 1_000_000;

    private Damage() {}

    /** Returns it with zeros from this byte on. */
    static byte[] zeroed(byte[] whole, int from) {
        byte[] zeroed = whole.clone();
        Arrays.fill(zeroed, from, whole.length, (byte) 0);
        return zeroed;
    }

    /** Returns it with all bits of a byte changed. */
    static byte[] flipped(byte[] whole, int at) {
        byte[] flipped = whole.clone();
        flipped[at] = (byte) ~flipped[at];
        return flipped;
    }

    /** Checks changed samples, and random bytes behind their beginnings. What a check throws fails the test. */
    static void fuzz(Format format, String name, byte[]... samples) {
        Random random = new Random(2_026);
        int bytes = 0;
        while (bytes < BYTES) {
            byte[] sample = samples[random.nextInt(samples.length)].clone();
            if (random.nextInt(4) == 0) {
                int kept = random.nextInt(Math.min(600, sample.length));
                byte[] noise = new byte[sample.length - kept];
                random.nextBytes(noise);
                System.arraycopy(noise, 0, sample, kept, noise.length);
            }
            for (int i = random.nextInt(8); i > 0; i--) {
                sample[random.nextInt(sample.length)] = (byte) (random.nextBoolean() ? random.nextInt() : -1);
            }
            judge(format, name, Arrays.copyOf(sample, sample.length - random.nextInt(sample.length) / 4), random);
            bytes += sample.length;
        }
    }

    private static void judge(Format format, String name, byte[] content, Random random) {
        ByteBuffer bytes = ByteBuffer.wrap(content);
        Beginning file = new Beginning(bytes.slice(0, Math.min(content.length, Beginning.BYTES)), content.length, name);
        try {
            Check check = format.check(file);
            while (check != null && bytes.hasRemaining()) {
                ByteBuffer piece = bytes.slice(bytes.position(), Math.min(bytes.remaining(), 1 + random.nextInt(999)));
                check.take(piece.duplicate());
                bytes.position(bytes.position() + piece.remaining());
            }
            if (check != null) {
                check.judge();
            }
        } catch (NotWhole why) {
            // A verdict, too.
        }
    }
}
