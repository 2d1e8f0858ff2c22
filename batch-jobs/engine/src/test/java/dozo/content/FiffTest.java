package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FiffTest {

    private static final int POINTER_AT = 36;

    private static ByteBuffer tag(ByteBuffer file, int kind, int type, int next, int... values) {
        file.putInt(kind).putInt(type).putInt(4 * values.length).putInt(next);
        for (int value : values) {
            file.putInt(value);
        }
        return file;
    }

    /** Returns a recording of 2 channels in one block inside another; its pointer says -1 or where its directory is. */
    private static ByteBuffer recording(int directory) {
        ByteBuffer file = ByteBuffer.allocate(2_000);
        tag(file, 100, 31, 0, 1, 2, 3, 4, 5);
        tag(file, 101, 3, 0, directory);
        tag(file, 106, 3, 0, -1);
        tag(file, 104, 3, 0, 100);
        tag(file, 200, 3, 0, 2);
        tag(file, 104, 3, 0, 102);
        tag(file, 300, 3, 0, new int[40]);
        tag(file, 300, 3, 0, new int[20]);
        tag(file, 105, 3, 0, 102);
        return tag(file, 105, 3, 0, 100);
    }

    private static byte[] written(ByteBuffer file) {
        return Arrays.copyOf(file.array(), file.position());
    }

    private static byte[] plain() {
        return written(tag(recording(-1), 108, 0, -1));
    }

    private static byte[] withDirectory() {
        int place = plain().length;
        ByteBuffer file = tag(recording(place), 108, 0, -1);
        tag(file, 102, 32, -1, 100, 31, 20, 0, 300, 3, 160, 136, -1, -1, -1, -1);
        return written(file);
    }

    private static Verdict judge(byte[] content) {
        return Judged.of("a_raw.fif", content);
    }

    @Test
    void balancedBlocksAreWhole() {
        assertThat(judge(plain())).isEqualTo(new Verdict(State.WHOLE, "FIFF", ""));
        assertThat(judge(withDirectory()).state()).isEqualTo(State.WHOLE);
        assertThat(judge(written(recording(-1))).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void bytesAfterTheLastTagAreWhole() {
        byte[] whole = plain();

        assertThat(judge(Arrays.copyOf(whole, whole.length + 1_000)).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void aCutIsBrokenUpToTheLastBlock() {
        byte[] whole = plain();
        int blocksOpenAt = 3 * 20 + 16 + 20;

        Mutations.cut("a.fif", Arrays.copyOf(whole, whole.length - 16), blocksOpenAt, State.BROKEN::equals);
        Mutations.cut("a.fif", whole, whole.length - 15, State.SUSPECT::equals);
        assertThat(judge(Arrays.copyOf(whole, 300)).why())
                .isEqualTo("its part at byte 136 should end at byte 312, the file has 300");
    }

    @Test
    void aCutIsBrokenAnywhereIfThereShouldBeADirectory() {
        Mutations.cut("a.fif", withDirectory(), POINTER_AT + 20, State.BROKEN::equals);
    }

    @Test
    void zerosInPlaceOfTheEndAreBroken() {
        byte[] whole = plain();
        byte[] indexed = withDirectory();

        Verdict zeroed = judge(Mutations.zeroed(whole, 340));
        assertThat(zeroed.why()).isEqualTo("it ends before 2 of its blocks are closed");
        assertThat(zeroed.state()).isEqualTo(State.BROKEN);
        for (int bytes : new int[] {20, 60, 100}) {
            assertThat(judge(Mutations.zeroed(indexed, indexed.length - bytes)).state())
                    .as("%d zeros", bytes)
                    .isEqualTo(State.BROKEN);
        }
    }

    @Test
    void lengthsThatLeadNowhereAreBroken() {
        byte[] content = plain();
        ByteBuffer.wrap(content).putInt(136 + 8, 10_000_000);
        assertThat(judge(content).state()).isEqualTo(State.BROKEN);

        ByteBuffer.wrap(content).putInt(136 + 8, -4);
        assertThat(judge(content).why()).isEqualTo("its part at byte 136 is damaged");
    }

    @Test
    void aDirectoryThatNamesBytesBehindTheEndIsBroken() {
        byte[] content = withDirectory();
        ByteBuffer.wrap(content).putInt(content.length - 24, 5_000);

        assertThat(judge(content).why())
                .isEqualTo("it refers to bytes up to 5,152, the file has %,d".formatted(content.length));
    }

    @Test
    void aPointerToOtherThanADirectoryIsBroken() {
        byte[] content = withDirectory();
        ByteBuffer.wrap(content).putInt(POINTER_AT + 16, 200);
        assertThat(judge(content).state()).isEqualTo(State.BROKEN);

        ByteBuffer.wrap(content).putInt(POINTER_AT + 16, 10);
        assertThat(judge(content).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void linksToTheEndAndBackAreReadInTheOrderOnDisk() {
        ByteBuffer file = tag(recording(-1), 108, 0, -1);
        int end = file.position();
        tag(file, 206, 10, POINTER_AT + 40, 7);
        file.putInt(POINTER_AT + 20 + 12, end);
        assertThat(judge(written(file)).state()).isEqualTo(State.WHOLE);

        Verdict cut = judge(Arrays.copyOf(file.array(), end));
        assertThat(cut.state()).isEqualTo(State.BROKEN);
        assertThat(cut.why()).startsWith("it refers to bytes up to");
    }

    @Test
    void linksFromWhatIsNoTagAreBroken() {
        for (int[] kindAndType : new int[][] {{0xE900, 0xA00}, {0x3E10_9866, 3}, {-5, 3}}) {
            ByteBuffer file = tag(recording(-1), kindAndType[0], kindAndType[1], 20, 7);
            assertThat(judge(written(tag(file, 108, 0, -1))).why())
                    .isEqualTo("its part at byte %,d is damaged"
                            .formatted(recording(-1).position()));
        }
        ByteBuffer matrix = tag(recording(-1), 3_417, 0x4000_0004, 20, 7);
        assertThat(judge(written(tag(matrix, 108, 0, -1))).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void aDirectoryThatIsCutIsBrokenAlsoAfterLinks() {
        ByteBuffer file = ByteBuffer.wrap(withDirectory());
        file.putInt(POINTER_AT + 20 + 12, 96);
        byte[] whole = file.array();

        assertThat(judge(whole).state()).isEqualTo(State.WHOLE);
        Mutations.cut("a.fif", whole, whole.length - 60, State.BROKEN::equals);
    }

    @Test
    void whatDoesNotFitBetweenLinksIsUnknown() {
        ByteBuffer file = tag(recording(-1), 108, 0, -1);
        tag(file, 206, 10, POINTER_AT + 40, 7);
        file.putInt(POINTER_AT + 20 + 12, file.position() - 20);
        file.putInt(136 + 8, -4);

        assertThat(judge(written(file)).state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    void unevenDataAndBlocksAreSuspect() {
        ByteBuffer uneven = recording(-1);
        tag(tag(uneven, 300, 3, 0, 1, 2, 3), 108, 0, -1);
        assertThat(judge(written(uneven)).why()).contains("no multiple of its 2 channels");

        ByteBuffer open = recording(-1);
        tag(tag(open, 104, 3, 0, 100), 108, 0, -1);
        assertThat(judge(written(open)).state()).isEqualTo(State.SUSPECT);
    }

    /** Returns a recording that refers to another file, in this role. */
    private static byte[] referring(int role, String name) {
        ByteBuffer file = recording(-1);
        tag(file, 104, 3, 0, 118);
        tag(file, 115, 3, 0, role);
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        file.putInt(118).putInt(10).putInt(text.length).putInt(0).put(text);
        tag(file, 117, 3, 0, 1);
        return written(tag(tag(file, 105, 3, 0, 118), 108, 0, -1));
    }

    private static Optional<Relation> relation(byte[] content) {
        Inspection inspection = new Inspection("a_raw.fif", content.length);
        inspection.take(ByteBuffer.wrap(content));
        assertThat(inspection.verdict().state()).isEqualTo(State.WHOLE);
        return inspection.relation();
    }

    @Test
    void aFileNamesTheNextOneOfItsRecording() {
        Companions next = new Companions(List.of("a_raw-1.fif", "a_raw-1.fif.gz"), 0, 0, 0, State.SUSPECT);

        assertThat(relation(referring(2, "a_raw-1.fif"))).contains(next);
        assertThat(relation(referring(2, "/data/meg/a_raw-1.fif"))).contains(next);
        assertThat(relation(referring(2, "C:\\meg\\a_raw-1.fif"))).contains(next);
    }

    @Test
    void otherReferencesSayNothing() {
        assertThat(relation(plain())).isEmpty();
        assertThat(relation(referring(1, "a_raw.fif"))).isEmpty();
        assertThat(relation(referring(2, ""))).isEmpty();
        assertThat(relation(referring(2, "meg/"))).isEmpty();
        assertThat(relation(referring(2, "a".repeat(256)))).isEmpty();
    }

    @Test
    void noChangedByteEndsACheck() {
        Mutations.fuzz(new Fiff(), "a.fif", referring(2, "a-1.fif"), 16);
        Mutations.fuzz(new Fiff(), "a.fif", plain(), 16);
        Mutations.fuzz(new Fiff(), "a.fif", withDirectory(), 16);
    }

    @Test
    void realFilesAreWholeAndTheirCutsAreNot() throws Exception {
        for (Path file : RealFiles.below("meg/fif_mne_python", ".fif")) {
            byte[] content = Files.readAllBytes(file);
            assertThat(judge(content).state()).as("%s", file).isEqualTo(State.WHOLE);

            Random random = new Random(5);
            for (int i = 0; i < 20; i++) {
                int length = 200 + random.nextInt(content.length - 240);
                assertThat(judge(Arrays.copyOf(content, length)).state())
                        .as("%,d bytes of %s", length, file)
                        .isEqualTo(State.BROKEN);
            }
        }
    }
}
