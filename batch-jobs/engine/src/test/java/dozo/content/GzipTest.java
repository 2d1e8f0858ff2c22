package dozo.content;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class GzipTest {

    private static byte[] gzip(byte[] content) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(content);
        }
        return out.toByteArray();
    }

    private static byte[] text() {
        return "some rows\n".repeat(20_000).getBytes(UTF_8);
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Arrays.stream(parts).forEach(out::writeBytes);
        return out.toByteArray();
    }

    private static State state(byte[] content) {
        return Judged.of("a.txt.gz", content).state();
    }

    @Test
    void membersAndZerosAfterThemAreWhole() throws Exception {
        assertThat(Judged.of("a.txt.gz", gzip(text()))).isEqualTo(new Verdict(State.WHOLE, "gzip", ""));
        assertThat(state(joined(gzip(text()), gzip(new byte[0]), gzip(text())))).isEqualTo(State.WHOLE);
        assertThat(state(joined(gzip(text()), new byte[5_000]))).isEqualTo(State.WHOLE);
    }

    @Test
    void aHeaderMayHaveAllFields() throws Exception {
        byte[] plain = gzip(text());
        byte[] header = {0x1F, (byte) 0x8B, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3};
        byte[] fields = {3, 0, 'a', 'b', 'c', 'n', 'a', 'm', 'e', 0, 'c', 0, 1, 2};

        assertThat(state(joined(header, fields, Arrays.copyOfRange(plain, 10, plain.length))))
                .isEqualTo(State.WHOLE);

        fields[0] = 0;
        byte[] withoutExtra = joined(new byte[] {0, 0}, Arrays.copyOfRange(fields, 5, fields.length));
        assertThat(state(joined(header, withoutExtra, Arrays.copyOfRange(plain, 10, plain.length))))
                .isEqualTo(State.WHOLE);
    }

    @Test
    void aFileThatIsCutAnywhereIsBroken() throws Exception {
        byte[] whole = gzip(text());
        for (int length = 11; length < whole.length; length++) {
            assertThat(state(Arrays.copyOf(whole, length)))
                    .as("of %d bytes", length)
                    .isEqualTo(State.BROKEN);
        }
    }

    @Test
    void aChangedByteOfTheDataOrTheTrailerIsBroken() throws Exception {
        Random random = new Random(55);
        byte[] content = new byte[5_000];
        random.nextBytes(content);
        byte[] whole = gzip(content);
        for (int i = 0; i < 500; i++) {
            byte[] changed = whole.clone();
            int at = 10 + random.nextInt(whole.length - 10);
            changed[at] ^= (byte) (1 << random.nextInt(8));
            assertThat(state(changed)).as("byte %d", at).isEqualTo(State.BROKEN);
        }
    }

    @Test
    void zerosInPlaceOfTheEndAreBroken() throws Exception {
        byte[] whole = gzip(text());
        byte[] zeros = whole.clone();
        Arrays.fill(zeros, whole.length / 2, whole.length, (byte) 0);

        assertThat(state(zeros)).isEqualTo(State.BROKEN);
    }

    @Test
    void otherBytesAfterTheEndAreSuspect() throws Exception {
        assertThat(state(joined(gzip(text()), "more".getBytes(UTF_8)))).isEqualTo(State.SUSPECT);
        assertThat(state(joined(gzip(text()), new byte[10], "more".getBytes(UTF_8))))
                .isEqualTo(State.SUSPECT);
        assertThat(state(joined(gzip(text()), new byte[] {0x1F, 'x'}))).isEqualTo(State.BROKEN);
    }

    @Test
    void theContentIsInspectedToo() throws Exception {
        byte[] image = NiftiTest.image();

        assertThat(Judged.of("a.nii.gz", gzip(image))).isEqualTo(new Verdict(State.WHOLE, "NIfTI-1 in gzip", ""));
        Verdict cut = Judged.of("a.nii.gz", gzip(Arrays.copyOf(image, image.length - 10)));
        assertThat(cut.state()).isEqualTo(State.BROKEN);
        assertThat(cut.why()).contains("header says");
    }

    /** A small file would else keep its sender busy for hours. */
    @Test
    void aFileThatUnpacksToFarMoreThanImagesDoIsUnknown() throws Exception {
        byte[][] members = new byte[101][];
        Arrays.fill(members, gzip(new byte[10_000_000]));

        assertThat(Mutations.atOnce("a.gz", joined(members)))
                .isEqualTo(new Verdict(State.UNKNOWN, "gzip", "it unpacks to more than 1 GB"));
        // So many zeros after the last member make the file long enough for what it unpacks to.
        assertThat(Mutations.atOnce("a.gz", joined(joined(members), new byte[10_000_000]))
                        .state())
                .isEqualTo(State.WHOLE);
    }

    @Test
    void ofContentThatUnpacksToFarMoreNobodyKnows() throws Exception {
        byte[] content = MatlabTest.zeros(101, 10);

        assertThat(Mutations.atOnce("a.mat", content))
                .isEqualTo(new Verdict(State.UNKNOWN, "MATLAB 5", "it unpacks to more than 1 GB"));
        assertThat(Mutations.atOnce("a.mat.gz", gzip(content))).isEqualTo(new Verdict(State.WHOLE, "gzip", ""));
    }

    /** A file that unpacks to itself would be inspected without end. */
    @Test
    void gzipInGzipIsNotUnpackedAgain() throws Exception {
        byte[] content = gzip(text());
        content[content.length - 1] ^= 1;

        assertThat(Judged.of("a.gz.gz", gzip(content))).isEqualTo(new Verdict(State.WHOLE, "gzip", ""));
    }
}
