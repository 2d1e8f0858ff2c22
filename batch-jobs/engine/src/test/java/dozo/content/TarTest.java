package dozo.content;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class TarTest {

    private static final byte[] END = new byte[1_024];

    private static byte[] header(char type, String magic, byte[] size) {
        ByteBuffer header = ByteBuffer.allocate(512);
        header.put(0, "sub-01/anat.nii\u00E9".getBytes(ISO_8859_1)).put(124, size);
        header.put(156, (byte) type).put(257, magic.getBytes(ISO_8859_1));
        return checked(header.array());
    }

    private static byte[] header(char type, int size) {
        return header(type, "ustar\00000", "%011o\0".formatted(size).getBytes(ISO_8859_1));
    }

    private static byte[] checked(byte[] header) {
        Arrays.fill(header, 148, 156, (byte) ' ');
        int sum = 0;
        for (byte value : header) {
            sum += Byte.toUnsignedInt(value);
        }
        System.arraycopy("%06o\0 ".formatted(sum).getBytes(ISO_8859_1), 0, header, 148, 8);
        return header;
    }

    private static byte[] data(int bytes) {
        byte[] data = new byte[Math.ceilDiv(bytes, 512) * 512];
        Random random = new Random(bytes);
        for (int i = 0; i < bytes; i++) {
            data[i] = (byte) (1 + random.nextInt(255));
        }
        return data;
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Arrays.stream(parts).forEach(out::writeBytes);
        return out.toByteArray();
    }

    private static byte[] archive() {
        return joined(header('0', 1_000), data(1_000), header('5', 0), header('0', 1_024), data(1_024), END);
    }

    private static Verdict judge(byte[]... parts) {
        return Judged.of("a.tar", joined(parts));
    }

    @Test
    void anArchiveIsWholeWhateverFollowsItsEnd() {
        assertThat(judge(archive())).isEqualTo(new Verdict(State.WHOLE, "tar", ""));
        assertThat(judge(archive(), new byte[8_192], data(700)).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void anArchiveInGzipIsWhole() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(archive());
        }
        assertThat(Judged.of("a.tgz", out.toByteArray())).isEqualTo(new Verdict(State.WHOLE, "tar in gzip", ""));
    }

    @Test
    void aCutWithinAnEntryIsBrokenAndBetweenEntriesSuspect() {
        byte[] whole = archive();
        int second = 512 + 1_024;
        int third = second + 512;
        int end = third + 512 + 1_024;
        for (int length = 512; length < whole.length; length++) {
            // The padding behind the data of an entry says nothing.
            boolean padding = length >= 512 + 1_000 && length <= second;
            boolean suspect = padding || length == third || length == end || length >= end + 512;
            assertThat(judge(Arrays.copyOf(whole, length)).state())
                    .as("of %d bytes", length)
                    .isEqualTo(suspect ? State.SUSPECT : State.BROKEN);
        }
        assertThat(judge(Arrays.copyOf(whole, 700)).why()).isEqualTo("it ends in the middle of entry 1");
        assertThat(judge(Arrays.copyOf(whole, third + 10)).why()).isEqualTo("it ends in the middle of entry 3");
        assertThat(judge(Arrays.copyOf(whole, end)).why()).isEqualTo("it has no end after entry 3");
    }

    @Test
    void aDamagedHeaderIsBroken() {
        byte[] whole = archive();
        for (int at : new int[] {0, 5, 124, 156, 300, 1_536, 1_700, 2_048}) {
            assertThat(judge(Mutations.flipped(whole, at)).state())
                    .as("byte %d", at)
                    .isEqualTo(State.BROKEN);
        }
        assertThat(judge(Mutations.flipped(whole, 2_050)).why()).isEqualTo("the header of its entry 3 is damaged");
        assertThat(judge(archive(), END).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void aSingleEmptyBlockIsSuspect() {
        assertThat(judge(header('0', 0), new byte[512], archive()).state()).isEqualTo(State.SUSPECT);
    }

    @Test
    void oldHeadersAndSumsOfSignedBytesAreKnown() {
        byte[] old = header('\0', "\0", "%11o ".formatted(5).getBytes(ISO_8859_1));
        assertThat(judge(old, data(5), END).state()).isEqualTo(State.WHOLE);
        assertThat(judge(old, data(5)).state()).isEqualTo(State.SUSPECT);

        int sum = 8 * ' ';
        for (int i = 0; i < 512; i++) {
            sum += i >= 148 && i < 156 ? 0 : old[i];
        }
        System.arraycopy("%06o\0 ".formatted(sum).getBytes(ISO_8859_1), 0, old, 148, 8);
        assertThat(judge(old, data(5), END).state()).isEqualTo(State.WHOLE);
        assertThat(judge(Mutations.flipped(old, 0), data(5), END)).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void lengthsMayBeBinary() {
        byte[] size = new byte[12];
        size[0] = (byte) 0x80;
        size[11] = 100;
        byte[] header = header('0', "ustar  \0", size);
        assertThat(judge(header, data(100), END).state()).isEqualTo(State.WHOLE);
        assertThat(judge(header, Arrays.copyOf(data(100), 99)).state()).isEqualTo(State.BROKEN);

        size[5] = 100;
        assertThat(judge(header('0', "ustar  \0", size), data(100), END).state())
                .isEqualTo(State.BROKEN);
        size[4] = -1;
        assertThat(judge(header('0', "ustar  \0", size), data(100), END).state())
                .isEqualTo(State.UNKNOWN);
    }

    @Test
    void paxReplacesTheLength() {
        byte[] records = "12 mtime=12\n12 size=600\n".getBytes(ISO_8859_1);
        byte[] pax = joined(header('x', records.length), Arrays.copyOf(records, 512));
        assertThat(judge(pax, header('0', 0), data(600), header('0', 0), END).state())
                .isEqualTo(State.WHOLE);
        assertThat(judge(pax, header('0', 0), Arrays.copyOf(data(600), 599)).state())
                .isEqualTo(State.BROKEN);
        assertThat(judge(Arrays.copyOf(pax, 600)).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void hardLinksMayHaveDataOrOnlyALength() {
        assertThat(judge(header('1', 600), header('0', 5), data(5), END).state())
                .isEqualTo(State.WHOLE);
        assertThat(judge(header('1', 600), data(600), header('0', 5), data(5), END)
                        .state())
                .isEqualTo(State.WHOLE);
        assertThat(judge(header('1', 600), END).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void gnuListsHolesInMoreBlocks() {
        byte[] header = header('S', "ustar  \0", "%011o\0".formatted(600).getBytes(ISO_8859_1));
        header[482] = 1;
        checked(header);
        byte[] more = new byte[512];
        more[504] = 1;

        assertThat(judge(header, more, new byte[512], data(600), END).state()).isEqualTo(State.WHOLE);
        assertThat(judge(header, more).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void anythingGetsAVerdict() {
        Mutations.fuzz(new Tar(), "a.tar", archive());
    }
}
