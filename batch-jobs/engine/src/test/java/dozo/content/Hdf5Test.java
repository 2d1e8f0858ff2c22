package dozo.content;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class Hdf5Test {

    private static final int SIZE = 800;

    /** The superblock of an empty file, as HDF5 1.14 writes it in its newest format: 179 bytes. */
    private static final String VERSION_3 =
            "894844460d0a1a0a030808000000000000000000ffffffffffffffff" + "b30000000000000030000000000000009555568b";

    /** The same of a file that is open while others read: 42,048 bytes. */
    private static final String VERSION_3_OPEN =
            "894844460d0a1a0a030808050000000000000000ffffffffffffffff" + "40a40000000000003000000000000000ca0351a7";

    private static final byte[] SIGNATURE = {(byte) 0x89, 'H', 'D', 'F', 13, 10, 26, 10};

    private static ByteBuffer oldest(int version, int userBytes) {
        ByteBuffer file = ByteBuffer.allocate(SIZE + userBytes).order(ByteOrder.LITTLE_ENDIAN);
        file.put(userBytes, SIGNATURE).put(userBytes + 8, (byte) version);
        file.put(userBytes + 13, (byte) 8).put(userBytes + 14, (byte) 8);
        int addresses = userBytes + (version == 0 ? 24 : 28);
        file.putLong(addresses, userBytes).putLong(addresses + 8, -1);
        return file.putLong(addresses + 16, SIZE + userBytes).putLong(addresses + 24, -1);
    }

    private static byte[] newest(String superblock, int size) {
        return Arrays.copyOf(HexFormat.of().parseHex(superblock), size);
    }

    private static Verdict judge(byte[] content) {
        return Judged.of("a.h5", content);
    }

    @Test
    void aFileOfItsLengthIsWholeInAllVersionsAndAfterABlockForTheUser() {
        assertThat(judge(oldest(0, 0).array())).isEqualTo(new Verdict(State.WHOLE, "HDF5", ""));
        for (int user : new int[] {0, 512, 1_024, 2_048}) {
            assertThat(judge(oldest(0, user).array()).state()).isEqualTo(State.WHOLE);
            assertThat(judge(oldest(1, user).array()).state()).isEqualTo(State.WHOLE);
        }
        assertThat(judge(newest(VERSION_3, 179)).state()).isEqualTo(State.WHOLE);
        assertThat(judge(newest(VERSION_3, 500)).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void addressesMayHaveFourBytes() {
        ByteBuffer file =
                ByteBuffer.allocate(SIZE).order(ByteOrder.LITTLE_ENDIAN).put(0, SIGNATURE);
        file.put(13, (byte) 4).putInt(24, 0).putInt(28, -1).putInt(32, SIZE).putInt(36, -1);

        assertThat(judge(file.array()).state()).isEqualTo(State.WHOLE);
        assertThat(judge(Arrays.copyOf(file.array(), SIZE - 1)).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void aFileThatIsCutAnywhereIsBroken() {
        for (byte[] whole : new byte[][] {oldest(0, 0).array(), oldest(1, 512).array(), newest(VERSION_3, 179)}) {
            for (int length = 520; length < whole.length; length++) {
                assertThat(judge(Arrays.copyOf(whole, length)).state())
                        .as("of %d bytes", length)
                        .isEqualTo(State.BROKEN);
            }
        }
        assertThat(judge(Arrays.copyOf(oldest(0, 0).array(), 100)).why())
                .isEqualTo("its header says 800 bytes, the file has 100");
        assertThat(judge(Arrays.copyOf(oldest(0, 0).array(), 40)).why())
                .isEqualTo("it ends after 40 bytes, in the middle of its superblock");
        assertThat(judge(newest(VERSION_3, 100)).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void aChangedSuperblockIsBrokenIfItHasAChecksum() {
        byte[] whole = newest(VERSION_3, 179);
        for (int at = 12; at < 48; at++) {
            assertThat(judge(Mutations.flipped(whole, at)).why())
                    .isEqualTo("its superblock does not have its checksum");
        }
        assertThat(judge(Mutations.flipped(whole, 100)).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void aFileThatIsStillOpenIsSuspect() {
        assertThat(judge(newest(VERSION_3_OPEN, 42_048)).why()).isEqualTo("it was still open for writing");
    }

    @Test
    void aFileOfSeveralOrOfAnUnknownVersionIsUnknown() {
        assertThat(judge(oldest(0, 0).putLong(48, 96).array()).state()).isEqualTo(State.UNKNOWN);
        assertThat(judge(oldest(0, 0).putLong(40, -1).array()).state()).isEqualTo(State.UNKNOWN);
        assertThat(judge(oldest(0, 0).putLong(40, 7).array()).state()).isEqualTo(State.UNKNOWN);
        assertThat(judge(oldest(0, 0).put(8, (byte) 9).array()).state()).isEqualTo(State.UNKNOWN);
        assertThat(judge(oldest(0, 0).put(13, (byte) 3).array()).state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    void aTransferAsTextIsBroken() {
        String content = new String(oldest(0, 0).array(), ISO_8859_1);
        for (String text : new String[] {
            content.replace("\r\n", "\n"), content.replace("\n", "\r\n"), content.replaceAll("(?<!\r)\n", "\r\n")
        }) {
            assertThat(judge(text.getBytes(ISO_8859_1)).why()).contains("transferred as text");
        }
    }

    @Test
    void aFileOfMatlabNeedsItsSignature() {
        ByteBuffer file = oldest(0, 512).put(0, "MATLAB 7.3 MAT-file, Platform".getBytes(ISO_8859_1));
        assertThat(judge(file.array())).isEqualTo(new Verdict(State.WHOLE, "MATLAB 7.3", ""));
        assertThat(judge(file.put(513, (byte) 0).array()).why())
                .isEqualTo("its HDF5 signature at byte 512 is damaged or absent");
    }

    @Test
    void anythingGetsAVerdict() {
        Mutations.fuzz(new Hdf5(), "a.h5", oldest(0, 0).array(), oldest(1, 512).array(), newest(VERSION_3, 179));
    }
}
