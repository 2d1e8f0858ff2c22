package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;

/** The beginning of a recording of KIT/Yokogawa MEG (as read by MNE-Python, {@code mne/io/kit}), little endian. */
final class KitPicture {

    private static final int ENTRY_BYTES = 16;

    /** Entries of the directory: an offset, the length of an item, and twice their number. */
    private static final int SYSTEM = ENTRY_BYTES;

    private static final int CHANNELS = 4 * ENTRY_BYTES;
    private static final int CONDITION = 8 * ENTRY_BYTES;
    private static final int RAW = 9 * ENTRY_BYTES;
    private static final int LENGTH = 4;
    private static final int ITEMS = 12;
    private static final int CHANNELS_MAX = 10_000;

    private KitPicture() {}

    /** There is no magic number: the directory names itself, and one system behind it. */
    static boolean is(ByteBuffer file) {
        return file.getInt(0) == 0
                && file.getInt(LENGTH) == ENTRY_BYTES
                && file.getInt(SYSTEM) == file.getInt(ITEMS) * ENTRY_BYTES
                && file.getInt(SYSTEM + ITEMS) == 1;
    }

    static Traces of(ByteBuffer file) throws NoPicture {
        int channels = file.getInt(file.getInt(SYSTEM) + 268);
        int raw = file.getInt(RAW);
        int sampleBytes = file.getInt(RAW + LENGTH);
        if (raw == 0 || channels > CHANNELS_MAX || (sampleBytes != Short.BYTES && sampleBytes != Integer.BYTES)) {
            throw new NoPicture(Why.NO_IMAGE);
        }
        List<Integer> kinds = IntStream.range(0, channels)
                .mapToObj(i -> file.getInt(file.getInt(CHANNELS) + file.getInt(CHANNELS + LENGTH) * i))
                .toList();
        // Axial gradiometers, magnetometers, planar gradiometers; references have other numbers.
        Traces traces = new Traces(kinds, file.getDouble(file.getInt(CONDITION) + 4), 2, 1, 3);
        ByteBuffer samples = file.slice(raw, file.limit() - raw).order(file.order());
        int numbers = sampleBytes == Short.BYTES ? NiftiPicture.SIGNED_16 : NiftiPicture.SIGNED_32;
        int last = Math.min(file.getInt(RAW + ITEMS), samples.limit() / sampleBytes) - channels;
        for (int i = 0; i <= last && !traces.isFull(); i += channels) {
            int first = i;
            traces.add(channel -> NiftiPicture.value(numbers, samples, first + channel));
        }
        return traces;
    }
}
