package dozo.picture;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The beginning of the first trial of a CTF recording, whose header {@code .res4} says what the samples in {@code .meg4} are. A
 * channel's samples of a trial are together: of a long trial, only the first channels are in the beginning of the file.
 */
final class CtfPicture {

    private static final int SAMPLES_AT = 1_288;
    private static final int CHANNELS_AT = 1_292;
    private static final int RATE_AT = 1_296;
    private static final int TEXT_BYTES_AT = 1_836;
    private static final int TEXT_AT = 1_844;
    private static final int FILTER_BYTES = 18;
    private static final int PARAMETERS_AT = 16;
    private static final int NAME_BYTES = 32;
    private static final int SENSOR_BYTES = 1_328;
    /** In samples: after a magic number. */
    private static final int DATA_AT = 2;

    private CtfPicture() {}

    /** Both big endian, as buffers are at first. */
    static Traces of(ByteBuffer header, ByteBuffer data) throws NoPicture {
        int samples = header.getInt(SAMPLES_AT);
        int channels = header.getShort(CHANNELS_AT);
        double rate = header.getDouble(RATE_AT);
        int sensors = sensors(header) + NAME_BYTES * channels;
        int shown = (int) Math.min(samples, rate * Traces.SECONDS);
        int there = Math.floorDiv(data.limit() / Integer.BYTES - DATA_AT - shown, samples) + 1;
        List<Integer> kinds = IntStream.range(0, Math.min(channels, there))
                .mapToObj(i -> (int) header.getShort(sensors + SENSOR_BYTES * i))
                .toList();
        // MEG, EEG.
        Traces traces = new Traces(kinds, rate, 5, 9);
        for (int i = DATA_AT; i < DATA_AT + shown; i++) {
            int first = i;
            traces.add(channel -> NiftiPicture.value(NiftiPicture.SIGNED_32, data, first + channel * samples));
        }
        return traces;
    }

    /** Returns where the names of the channels begin, behind a text and filters. */
    private static int sensors(ByteBuffer header) {
        int at = TEXT_AT + Math.max(0, header.getInt(TEXT_BYTES_AT)) + Short.BYTES;
        for (int filters = header.getShort(at - Short.BYTES); filters > 0; filters--) {
            at += FILTER_BYTES + Double.BYTES * header.getShort(at + PARAMETERS_AT);
        }
        return at;
    }
}
