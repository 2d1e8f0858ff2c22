package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The beginning of a continuous recording in FIFF, up to its first gap. */
final class FiffPicture {

    /** The kind of the first tag, "file id", and its type. */
    static final long BEGINNING = 100L << Integer.SIZE | 31;

    private static final int HEADER_BYTES = 16;
    private static final int RATE = 201;
    private static final int CHANNEL = 203;
    private static final int KIND_AT = 8;
    private static final int DATA = 300;
    private static final int GAP = 301;

    private final InputStream in;
    private double rate;
    private final List<Integer> kinds = new ArrayList<>();
    private @Nullable Traces traces;
    private boolean ended;

    FiffPicture(InputStream in) {
        this.in = in;
    }

    Traces read() throws IOException, NoPicture {
        for (ByteBuffer tag = next(HEADER_BYTES); !ended; tag = next(HEADER_BYTES)) {
            int bytes = tag.getInt(8);
            switch (tag.getInt(0)) {
                case RATE -> rate = Bytes.read(in, bytes, ByteOrder.BIG_ENDIAN).getFloat(0);
                case CHANNEL ->
                    kinds.add(Bytes.read(in, bytes, ByteOrder.BIG_ENDIAN).getInt(KIND_AT));
                case DATA -> data(tag.getInt(4), bytes);
                default -> {
                    ended = tag.getInt(0) == GAP && traces != null;
                    in.skipNBytes(bytes);
                }
            }
        }
        if (traces == null) {
            throw new NoPicture(Why.NO_IMAGE);
        }
        return traces;
    }

    private ByteBuffer next(int bytes) throws IOException {
        ByteBuffer next = ByteBuffer.wrap(in.readNBytes(bytes));
        ended |= next.limit() < bytes;
        return next;
    }

    private void data(int type, int bytes) throws IOException, NoPicture {
        int numbers = switch (type) {
            case 2, 16 -> NiftiPicture.SIGNED_16;
            case 3 -> NiftiPicture.SIGNED_32;
            case 4 -> NiftiPicture.FLOAT_32;
            case 5 -> NiftiPicture.FLOAT_64;
            default -> throw new NoPicture(Why.NOT_GREY);
        };
        if (traces == null) {
            // MEG, EEG.
            traces = new Traces(kinds, rate, 1, 2);
        }
        int frameBytes = kinds.size() * NiftiPicture.bytes(numbers);
        if (bytes % frameBytes != 0) {
            throw new NoPicture(Why.DAMAGED);
        }
        for (int left = bytes; left > 0 && !ended; left -= frameBytes) {
            ByteBuffer frame = next(frameBytes);
            if (!ended) {
                traces.add(channel -> NiftiPicture.value(numbers, frame, channel));
                ended = traces.isFull();
            }
        }
    }
}
