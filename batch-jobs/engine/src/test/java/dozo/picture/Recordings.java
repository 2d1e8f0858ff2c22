package dozo.picture;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Recordings that are made for tests: the value of a channel is 1,000 times its number, plus that of the sample. */
final class Recordings {

    /** Kinds of channels in FIFF. */
    private static final int[] FIFF_KINDS = {3, 1, 2, 1};

    private Recordings() {}

    static int value(int channel, int sample) {
        return 1_000 * channel + sample;
    }

    private static byte[] ended(ByteBuffer file) {
        return Arrays.copyOf(file.array(), file.position());
    }

    static ByteBuffer tag(ByteBuffer file, int kind, int type, int bytes) {
        return file.putInt(kind).putInt(type).putInt(bytes).putInt(0);
    }

    /** Begins a recording in FIFF whose channels are of these kinds. */
    static ByteBuffer fiff(float rate, int... kinds) {
        ByteBuffer file = ByteBuffer.allocate(1 << 20);
        tag(file, 100, 31, 20).put(new byte[20]);
        tag(file, 201, 4, 4).putFloat(rate);
        for (int kind : kinds) {
            tag(file, 203, 30, 96).putInt(0).putInt(0).putInt(kind).put(new byte[84]);
        }
        return file;
    }

    /** Returns seconds of a stimulus, MEG, EEG and MEG in FIFF, each second in a buffer, 100 samples a second. */
    static byte[] fiff(int seconds) {
        ByteBuffer file = fiff(100, FIFF_KINDS);
        for (int second = 0; second < seconds; second++) {
            tag(file, 300, 16, 100 * FIFF_KINDS.length * Short.BYTES);
            for (int i = 0; i < 100; i++) {
                for (int channel = 0; channel < FIFF_KINDS.length; channel++) {
                    file.putShort((short) value(channel, 100 * second + i));
                }
            }
        }
        return ended(file);
    }

    static byte[] end(ByteBuffer fiff) {
        return ended(fiff);
    }

    /** Returns the header of a CTF recording with a text and two filters, of which one has a parameter. */
    static byte[] res4(int samples, double rate, int... kinds) {
        ByteBuffer file = ByteBuffer.allocate(1 << 20).put("MEG42RS\0".getBytes(ISO_8859_1));
        file.putInt(1_288, samples).putShort(1_292, (short) kinds.length).putDouble(1_296, rate);
        file.putInt(1_836, 5).position(1_844 + 5).putShort((short) 2);
        file.put(new byte[16]).putShort((short) 1).putDouble(0);
        file.put(new byte[16]).putShort((short) 0);
        file.put(new byte[32 * kinds.length]);
        for (int kind : kinds) {
            file.putShort((short) kind).put(new byte[1_326]);
        }
        return ended(file.putShort((short) 0));
    }

    /** Returns the samples of a CTF recording: of each trial, of each channel. */
    static byte[] meg4(int samples, int channels, int trials) {
        ByteBuffer file = ByteBuffer.allocate(8 + trials * channels * samples * Integer.BYTES);
        file.put("MEG41CP\0".getBytes(ISO_8859_1));
        for (int i = 0; i < trials * channels; i++) {
            for (int sample = 0; sample < samples; sample++) {
                file.putInt(value(i, sample));
            }
        }
        return file.array();
    }

    /** Returns a recording of KIT, in numbers of two or four bytes, of a trigger and two gradiometers, 100 samples a second. */
    static byte[] kit(int samples, int bytes) {
        int[] kinds = {0, 2, 2};
        ByteBuffer file = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
        entry(file, 0, 0, 16, 12);
        entry(file, 1, 12 * 16, 800, 1);
        entry(file, 4, 1_000, 76, kinds.length);
        entry(file, 8, 2_000, 28, 1);
        entry(file, 9, 3_000, bytes, kinds.length * samples);
        file.putInt(12 * 16 + 268, kinds.length).putDouble(2_004, 100).position(3_000);
        for (int i = 0; i < kinds.length; i++) {
            file.putInt(1_000 + 76 * i, kinds[i]);
        }
        for (int sample = 0; sample < samples; sample++) {
            for (int channel = 0; channel < kinds.length; channel++) {
                if (bytes == Short.BYTES) {
                    file.putShort((short) value(channel, sample));
                } else {
                    file.putInt(value(channel, sample));
                }
            }
        }
        return ended(file);
    }

    private static void entry(ByteBuffer file, int number, int offset, int itemBytes, int items) {
        file.position(16 * number)
                .putInt(offset)
                .putInt(itemBytes)
                .putInt(items)
                .putInt(items);
    }
}
