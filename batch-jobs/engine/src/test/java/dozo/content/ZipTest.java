package dozo.content;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;

class ZipTest {

    private static final int STORED = ZipEntry.STORED;
    private static final int DEFLATED = ZipEntry.DEFLATED;

    /** Deflated entries have their lengths after them, stored ones before. */
    private static byte[] zip(String comment, int... methods) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.setComment(comment);
            for (int i = 0; i < methods.length; i++) {
                byte[] content = content(i);
                ZipEntry entry = new ZipEntry("sub/" + i);
                entry.setMethod(methods[i]);
                if (methods[i] == STORED) {
                    CRC32 crc = new CRC32();
                    crc.update(content);
                    entry.setCrc(crc.getValue());
                    entry.setSize(content.length);
                }
                zip.putNextEntry(entry);
                zip.write(content);
            }
            zip.putNextEntry(new ZipEntry("folder/"));
        }
        return out.toByteArray();
    }

    private static byte[] content(int number) {
        byte[] content = new byte[300 + 100 * number];
        new Random(number).nextBytes(content);
        Arrays.fill(content, 50, 100, (byte) 7);
        return content;
    }

    private static byte[] zip() throws IOException {
        return zip("", DEFLATED, STORED, DEFLATED);
    }

    /** Returns an archive of one entry as a stream writes it that does not pack: without its length before it. */
    private static ByteBuffer stream(byte[] content, int followingBytes) {
        CRC32 sum = new CRC32();
        sum.update(content);
        int crc = (int) sum.getValue();
        int start = 31 + content.length + followingBytes;
        ByteBuffer zip = ByteBuffer.allocate(start + 47 + 22).order(ByteOrder.LITTLE_ENDIAN);
        zip.putInt(0x04034B50).putShort((short) 20).putShort((short) 8).position(26);
        zip.putShort((short) 1).putShort((short) 0).put((byte) 'a').put(content);
        zip.putInt(0x08074B50).putInt(crc).putInt(content.length).putInt(content.length);
        zip.position(start);
        zip.putInt(0x02014B50).putInt(0).putShort((short) 8).putShort((short) 0).putInt(0);
        zip.putInt(crc).putInt(content.length).putInt(content.length).putShort((short) 1);
        zip.position(start + 46).put((byte) 'a');
        zip.putInt(0x06054B50)
                .putInt(0)
                .putShort((short) 1)
                .putShort((short) 1)
                .putInt(47)
                .putInt(start);
        return zip;
    }

    private static Verdict judge(byte[] content) {
        return Judged.of("a.zip", content);
    }

    @Test
    void anArchiveIsWholeWithCommentAndWhateverFollows() throws Exception {
        assertThat(judge(zip())).isEqualTo(new Verdict(State.WHOLE, "zip", ""));
        assertThat(judge(zip("a comment", STORED, DEFLATED)).state()).isEqualTo(State.WHOLE);
        assertThat(judge(Arrays.copyOf(zip(), 100_000)).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void anArchiveOfNothingIsWhole() {
        byte[] empty = Arrays.copyOf("PK\5\6".getBytes(UTF_8), 22);
        assertThat(judge(empty).state()).isEqualTo(State.WHOLE);
        assertThat(judge(Arrays.copyOf(empty, 21)).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void anArchiveOfManyEntriesIsWhole() throws Exception {
        int[] methods = new int[300];
        Arrays.fill(methods, DEFLATED);
        assertThat(judge(zip("", methods)).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void aFileThatIsCutAnywhereIsBroken() throws Exception {
        byte[] whole = zip("a comment", DEFLATED, STORED, DEFLATED);
        for (int length = 4; length < whole.length; length++) {
            assertThat(judge(Arrays.copyOf(whole, length)).state())
                    .as("of %d bytes", length)
                    .isEqualTo(State.BROKEN);
        }
        assertThat(judge(Arrays.copyOf(whole, 500)).why())
                .isEqualTo("it ends after 500 bytes, before its directory is complete");
        assertThat(judge(Arrays.copyOf(whole, whole.length - 1)).why())
                .isEqualTo("it ends in the middle of its comment");
    }

    @Test
    void zerosInPlaceOfTheEndAreBroken() throws Exception {
        byte[] whole = zip();
        for (int from = 30; from < whole.length - 22; from++) {
            assertThat(judge(Mutations.zeroed(whole, from)).state())
                    .as("from %d", from)
                    .isEqualTo(State.BROKEN);
        }
    }

    @Test
    void aChangedByteOfTheDataIsBroken() throws Exception {
        byte[] whole = zip("", STORED, DEFLATED);
        int names = 30 + 5;
        for (int at = names; at < names + 300; at++) {
            assertThat(judge(Mutations.flipped(whole, at)).why()).isEqualTo("entry 1 does not have its checksum");
        }
        int second = names + 300 + names;
        for (int at = second; at < second + 340; at++) {
            assertThat(judge(Mutations.flipped(whole, at)).state())
                    .as("byte %d", at)
                    .isEqualTo(State.BROKEN);
        }
    }

    @Test
    void headersAndDirectoryMustAgree() throws Exception {
        byte[] whole = zip("", STORED, DEFLATED);
        int directory = indexOf(whole, "PK\1\2");
        int end = indexOf(whole, "PK\5\6");
        for (int at : new int[] {16, 20, 24, 42}) {
            assertThat(judge(Mutations.flipped(whole, directory + at)).why())
                    .isEqualTo("its directory and the headers of its entries differ");
        }
        assertThat(judge(Mutations.flipped(whole, end + 10)).why()).contains("its end says");
        assertThat(judge(Mutations.flipped(whole, end + 12)).state()).isEqualTo(State.SUSPECT);
    }

    private static int indexOf(byte[] whole, String record) {
        return new String(whole, ISO_8859_1).indexOf(record);
    }

    @Test
    void bytesBetweenTheEntriesAndTheDirectoryAreLegal() throws Exception {
        byte[] whole = zip();
        int directory = indexOf(whole, "PK\1\2");
        ByteBuffer gap = ByteBuffer.allocate(whole.length + 100).order(ByteOrder.LITTLE_ENDIAN);
        gap.put(whole, 0, directory).position(directory + 100);
        gap.put(whole, directory, whole.length - directory).putInt(gap.limit() - 6, directory + 100);

        assertThat(judge(gap.array()).state()).isEqualTo(State.WHOLE);
        assertThat(judge(Mutations.zeroed(gap.array(), directory + 200)).why())
                .isEqualTo("it has no directory at its end");
        assertThat(judge(Mutations.flipped(gap.array(), directory + 100 + 16)).state())
                .isEqualTo(State.BROKEN);
    }

    @Test
    void aSignatureBehindTheDirectoryIsLegal() throws Exception {
        byte[] whole = zip();
        int directory = indexOf(whole, "PK\1\2");
        int end = indexOf(whole, "PK\5\6");
        ByteBuffer signed = ByteBuffer.allocate(whole.length + 16).order(ByteOrder.LITTLE_ENDIAN);
        signed.put(whole, 0, end).putInt(0x05054B50).putShort((short) 10);
        signed.put(end + 16, whole, end, 22).putInt(end + 16 + 12, end + 16 - directory);

        assertThat(judge(signed.array()).state()).isEqualTo(State.WHOLE);
        assertThat(judge(Mutations.flipped(signed.array(), directory + 16)).state())
                .isEqualTo(State.BROKEN);
    }

    @Test
    void anEntryThatIsNotInItsPlaceIsBroken() throws Exception {
        byte[] whole = zip("", STORED, STORED, STORED);
        int second = 35 + 300;
        Arrays.fill(whole, second, second + 35 + 400, (byte) 0);

        assertThat(judge(whole).why()).isEqualTo("it has no entry at byte 335, where its directory says one");
    }

    @Test
    void anEntryOfUnknownLengthIsJudgedByTheDirectory() {
        byte[] whole = stream(content(0), 16).array();
        assertThat(judge(whole)).isEqualTo(new Verdict(State.WHOLE, "zip", ""));
        byte[] large = stream(new byte[1_000_000], 24).array();
        assertThat(judge(large).state()).isEqualTo(State.WHOLE);
        for (int length = 4; length < whole.length; length++) {
            assertThat(judge(Arrays.copyOf(whole, length)).state()).isEqualTo(State.BROKEN);
        }
        assertThat(judge(Arrays.copyOf(large, 900_000)).why()).isEqualTo("it has no directory at its end");
        assertThat(judge(Mutations.flipped(whole, whole.length - 69 + 1)).state())
                .isEqualTo(State.SUSPECT);
        assertThat(judge(Mutations.flipped(whole, whole.length - 12)).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void zip64KeepsItsNumbersElsewhere() throws Exception {
        byte[] content = content(0);
        CRC32 crc = new CRC32();
        crc.update(content);
        ByteBuffer zip = ByteBuffer.allocate(2_000).order(ByteOrder.LITTLE_ENDIAN);
        zip.putInt(0x04034B50).position(14);
        zip.putInt((int) crc.getValue())
                .putInt(-1)
                .putInt(-1)
                .putShort((short) 1)
                .putShort((short) 20);
        zip.put((byte) 'a')
                .putShort((short) 1)
                .putShort((short) 16)
                .putLong(content.length)
                .putLong(content.length);
        int start = zip.put(content).position();
        zip.putInt(0x02014B50).position(start + 16);
        zip.putInt((int) crc.getValue())
                .putInt(-1)
                .putInt(-1)
                .putShort((short) 1)
                .putShort((short) 20);
        zip.position(start + 46).put((byte) 'a').putShort((short) 1).putShort((short) 16);
        int end = zip.putLong(content.length).putLong(content.length).position();
        zip.putInt(0x06064B50).putLong(44).position(end + 24);
        zip.putLong(1).putLong(1).putLong(end - start).putLong(start);
        zip.putInt(0x07064B50).putInt(0).putLong(end).putInt(1);
        zip.putInt(0x06054B50)
                .putInt(0)
                .putShort((short) -1)
                .putShort((short) -1)
                .putInt(-1)
                .putInt(-1);
        byte[] whole = Arrays.copyOf(zip.array(), zip.position() + 2);

        assertThat(judge(whole).state()).isEqualTo(State.WHOLE);
        assertThat(judge(Mutations.flipped(whole, end + 32)).state()).isEqualTo(State.BROKEN);
        assertThat(judge(Mutations.flipped(whole, 100)).state()).isEqualTo(State.BROKEN);
        assertThat(judge(Arrays.copyOf(whole, whole.length - 30)).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void ofEncryptedEntriesOnlyTheLengthsAreJudged() throws Exception {
        byte[] whole = zip("", STORED);
        whole[6] |= 1;
        whole[indexOf(whole, "PK\1\2") + 8] |= 1;

        assertThat(judge(Mutations.flipped(whole, 100)).state()).isEqualTo(State.WHOLE);
        assertThat(judge(Arrays.copyOf(whole, 300)).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void partsOfAnArchiveAreUnknown() throws Exception {
        byte[] whole = zip();
        for (String name : new String[] {"a.zip.001", "a.z02"}) {
            assertThat(Judged.of(name, Arrays.copyOf(whole, 500))).isEqualTo(Verdict.UNKNOWN);
        }
        whole[whole.length - 18] = 1;
        assertThat(judge(whole).state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    void anythingGetsAVerdict() throws Exception {
        Mutations.fuzz(
                new Zip(),
                "a.zip",
                zip(),
                zip("", STORED, STORED),
                stream(content(1), 16).array());
    }
}
