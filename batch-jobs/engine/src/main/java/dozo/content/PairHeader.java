package dozo.content;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The header of an Analyze 7.5 or NIfTI image in two files, {@code .hdr}: it begins with its length in bytes. The images are in
 * {@code .img}, from {@code vox_offset} on (nifti1.h).
 */
final class PairHeader implements Format {

    private static final int BYTES = 348;
    private static final int NIFTI_2_BYTES = 540;

    @Override
    public @Nullable Check check(Beginning file) {
        if (!file.isNamed(".hdr") || !file.reaches(Integer.BYTES)) {
            return null;
        }
        ByteBuffer bytes = file.in(ByteOrder.BIG_ENDIAN);
        for (int length : new int[] {BYTES, NIFTI_2_BYTES}) {
            if (bytes.getInt(0) == length) {
                return new Header(file, length, ByteOrder.BIG_ENDIAN);
            }
            if (Integer.reverseBytes(bytes.getInt(0)) == length) {
                return new Header(file, length, ByteOrder.LITTLE_ENDIAN);
            }
        }
        return null;
    }

    private static String formatOf(Beginning file, int length) {
        if (length == NIFTI_2_BYTES) {
            return "NIfTI-2 header";
        }
        return isNifti1(file) ? "NIfTI-1 header" : "Analyze header";
    }

    private static boolean isNifti1(Beginning file) {
        return file.has(BYTES - 4, "ni1\0");
    }

    private static final class Header extends Check {

        private final int bytes;
        private final ByteOrder order;
        private final String images;
        private final State withoutImages;
        private @Nullable Companions companions;

        Header(Beginning file, int bytes, ByteOrder order) {
            super(formatOf(file, bytes));
            this.bytes = bytes;
            this.order = order;
            this.images = file.withEnding("img");
            // Of Analyze, only the length of the header shows what it is.
            this.withoutImages = isNifti1(file) || file.has(4, "ni2\0") ? State.BROKEN : State.SUSPECT;
            want(bytes);
        }

        @Override
        void part(ByteBuffer header) {
            try {
                long end = Nifti.imagesEnd(header.order(order), bytes == BYTES, 0);
                companions = new Companions(List.of(images, images + Companions.PACKED), 0, end, 0, withoutImages);
            } catch (NotWhole unknown) {
                // Its own length is all that is known.
            }
        }

        @Override
        Optional<Relation> relation() {
            return Optional.ofNullable(companions);
        }

        @Override
        void end(long left) throws NotWhole {
            if (left > 0) {
                throw NotWhole.broken(
                        "it should have %,d bytes or more, the file has %,d".formatted(bytes, position()));
            }
        }
    }
}
