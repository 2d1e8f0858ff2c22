package dozo.suggest;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.FilePath;
import dozo.source.OpenFile;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicom.SharedData;
import dozo.suggest.FolderLook.Limits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * MEG folders are recognised, with their recording day, by their own headers; for KIT with real files. The bytes of CTF
 * and BTi are generated after the layouts in {@link Ctf} and {@link Bti}.
 */
class RecordingsTest {

    private static final ZoneId ZONE = ZoneId.of("Asia/Tokyo");
    private static final long SEED = 20261122;
    private static final LocalDate DAY = LocalDate.of(2026, 10, 2);

    /** Late in the evening in UTC, so the next day in Tokyo. */
    private static final int RECORDED =
            (int) Instant.parse("2026-10-01T20:00:00Z").getEpochSecond();

    @TempDir
    Path temporary;

    private Path visit = Path.of("");

    @BeforeEach
    void makeVisit() throws IOException {
        visit = Files.createDirectory(temporary.toRealPath().resolve("visit"));
    }

    @Test
    void realFilesOfKitSayTheirDayUnderEachOfTheirEndings() throws IOException {
        Path real = SharedData.folder().getParent().resolve("meg").resolve("kit_mne_python");
        for (String ending : List.of(".con", ".SQD", ".raw", ".ave", ".mrk")) {
            Path folder = Files.createDirectory(visit.resolve("kit" + ending));
            Files.copy(real.resolve("test.sqd"), folder.resolve("rest" + ending));
            // 18:07 UTC on the day before.
            assertThat(look(folder).modalities()).containsExactly("MEG");
            assertThat(look(folder).days()).containsExactly(LocalDate.of(2012, 6, 1));
        }
        Path other = Files.createDirectory(visit.resolve("other"));
        Files.copy(real.resolve("test_umd-raw.sqd"), other.resolve("1.con"));
        assertThat(look(other).days()).containsExactly(LocalDate.of(2015, 4, 2));
    }

    @Test
    void aFileThatIsOnlyCalledConSaysNothing() throws IOException {
        Files.writeString(visit.resolve("settings.con"), "PORT=1\n".repeat(200));
        Files.write(visit.resolve("empty.con"), new byte[0]);

        assertThat(look(visit).isSilent()).isTrue();
        assertThat(look(visit).unreadable()).isZero();
    }

    @Test
    void kitWithoutATimeOfCreationHasNoDay() throws IOException {
        Files.write(visit.resolve("rest.con"), kit(0));

        assertThat(look(visit).modalities()).containsExactly("MEG");
        assertThat(look(visit).days()).isEmpty();
    }

    @Test
    void ctfSaysItsDayInEveryWayInWhichItIsWritten() throws IOException {
        for (String written : List.of("02-Oct-2026", "2/10/2026", "02/10/2026", "Fri, Oct 2, 2026", "2026/10/02")) {
            Path folder = Files.createTempDirectory(visit, "ctf").resolve("visit.ds");
            Files.createDirectory(folder);
            Files.write(folder.resolve("visit.res4"), ctf("09:54:32", written));
            assertThat(look(folder.getParent()).modalities()).containsExactly("MEG");
            assertThat(look(folder.getParent()).days()).as(written).containsExactly(DAY);
            // The folder itself, and with the two texts swapped.
            Files.write(folder.resolve("visit.res4"), ctf(written, "09:54"));
            assertThat(look(folder).modalities()).containsExactly("MEG");
            assertThat(look(folder).days()).as(written).containsExactly(DAY);
        }
    }

    @Test
    void ctfWithoutADateOrWithDataAloneIsMegOfAnUnknownDay() throws IOException {
        for (String none : List.of("", "31/02/2026", "02.10.2026", "Thu, Oct 2, 2026", "01/01/1900")) {
            Path folder = Files.createTempDirectory(visit, "ctf");
            Files.write(folder.resolve("visit.res4"), ctf("10:00", none));
            assertThat(look(folder).modalities()).as(none).containsExactly("MEG");
            assertThat(look(folder).days()).as(none).isEmpty();
        }
        Path data = Files.createTempDirectory(visit, "data");
        Files.write(data.resolve("visit.meg4"), "MEG41CP\0data".getBytes(US_ASCII));
        assertThat(look(data).modalities()).containsExactly("MEG");
        Path empty = Files.createDirectory(data.resolve("empty.ds"));
        Files.write(empty.resolve("empty.res4"), new byte[0]);
        assertThat(look(empty).modalities()).containsExactly("MEG");
    }

    @Test
    void btiSaysTheDayOfTheFirstProcess() throws IOException {
        for (String name : List.of("c,rfDC", "e,rfhp1.0Hz,COH")) {
            Path folder = Files.createTempDirectory(visit, "bti");
            Files.write(folder.resolve(name), bti(2, 248, 3, 2, RECORDED));
            Files.write(folder.resolve("config"), new byte[100]);
            Files.write(folder.resolve("hs_file"), new byte[100]);
            assertThat(look(folder).modalities()).containsExactly("MEG");
            assertThat(look(folder).days()).as(name).containsExactly(DAY);
        }
    }

    @Test
    void btiThatSaysNoDayHasNone() throws IOException {
        for (byte[] data : List.of(bti(1, 10, 0, 0, RECORDED), bti(1, 10, 0, 1, 0), bti(1, 10, 0, 1, -5))) {
            Path folder = Files.createTempDirectory(visit, "bti");
            Files.write(folder.resolve("c,rfDC"), data);
            assertThat(look(folder).modalities()).containsExactly("MEG");
            assertThat(look(folder).days()).isEmpty();
        }
        // Empty files, as in an example tree: the two names together identify the format.
        Path named = Files.createTempDirectory(visit, "bti");
        Files.write(named.resolve("c,rfDC"), new byte[0]);
        assertThat(look(named).isSilent()).isTrue();
        Files.write(named.resolve("config"), new byte[0]);
        assertThat(look(named).modalities()).containsExactly("MEG");
        assertThat(look(named).days()).isEmpty();
    }

    @Test
    void badLengthsAndShortFilesAreNoRecordingAndNothingIsThrown() throws IOException {
        byte[] far = kit(RECORDED);
        assertThat(recording("a.con", far)).isNotNull();
        for (int offset : new int[] {-1, Integer.MAX_VALUE, Integer.MIN_VALUE, 0, 31}) {
            ByteBuffer.wrap(far).order(ByteOrder.LITTLE_ENDIAN).putInt(16, offset);
            assertThat(recording("a.con", far)).isNull();
        }
        for (long place : new long[] {-1, Long.MAX_VALUE, Long.MIN_VALUE, 0, 1_000_000}) {
            byte[] data = bti(1, 10, 0, 1, RECORDED);
            ByteBuffer.wrap(data).putLong(data.length - 8, place);
            assertThat(recording("c,rfdc", data)).as("%d", place).isNull();
        }
        for (int count : new int[] {-1, Integer.MAX_VALUE, Integer.MIN_VALUE, 1_000_000}) {
            byte[] data = bti(1, 10, 0, 1, RECORDED);
            ByteBuffer.wrap(data).putInt(64 + 12, count);
            Recording recording = recording("c,rfdc", data);
            assertThat(recording == null ? null : recording.day()).isNull();
        }
    }

    @Test
    void whateverIsInTheBytesNothingIsThrown() throws IOException {
        Random random = new Random(SEED);
        for (Map.Entry<String, byte[]> whole : Map.of(
                        "a.con", kit(RECORDED),
                        "a.res4", ctf("10:00", "02-Oct-2026"),
                        "a.meg4", "MEG41CP\0".getBytes(US_ASCII),
                        "c,rfdc", bti(2, 12, 1, 2, RECORDED))
                .entrySet()) {
            assertThat(recording(whole.getKey(), whole.getValue())).isNotNull();
            for (int i = 0; i < 400; i++) {
                byte[] bytes = Arrays.copyOf(
                        whole.getValue(),
                        i % 4 == 0 ? random.nextInt(whole.getValue().length) : whole.getValue().length);
                for (int flips = random.nextInt(40); flips > 0 && bytes.length > 0; flips--) {
                    // The lengths are at the beginning and at the end.
                    int at = random.nextBoolean()
                            ? random.nextInt(Math.min(96, bytes.length))
                            : random.nextInt(bytes.length);
                    bytes[at] = (byte) (random.nextBoolean() ? 0xFF : random.nextInt());
                }
                recording(whole.getKey(), bytes);
            }
        }
    }

    private FolderFacts look(Path folder) throws IOException {
        Limits limits = new Limits(10_000, 10_000, 100, 1_000, Duration.ofMinutes(5));
        PseudonymousCode codes = new PseudonymousCode("a key for tests, of many bytes".getBytes(US_ASCII));
        FolderFacts evidence = new FolderLook(folder, folder, limits, codes, ZONE).look();
        assertThat(evidence.unreadable()).isZero();
        return evidence;
    }

    private @Nullable Recording recording(String name, byte[] bytes) throws IOException {
        Files.write(visit.resolve("file"), bytes);
        try (OpenFile file = OpenFile.open(visit, FilePath.of("file"))) {
            return Recording.of(name, file, ZONE).orElse(null);
        }
    }

    private static byte[] kit(int created) {
        ByteBuffer bytes = ByteBuffer.allocate(2_000);
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(0).putInt(16).putInt(32).putInt(32);
        bytes.putInt(512).putInt(1_248).putInt(1).putInt(1);
        bytes.putInt(512, 2).putInt(516, 4).putInt(520, 34).putInt(512 + 268, 192);
        bytes.putInt(512 + 528, created);
        return bytes.array();
    }

    private static byte[] ctf(String time, String date) {
        ByteBuffer bytes = ByteBuffer.allocate(1_844);
        bytes.put("MEG41RS\0".getBytes(US_ASCII));
        bytes.put(778, time.getBytes(ISO_8859_1));
        bytes.put(1_033, date.getBytes(ISO_8859_1));
        return bytes.array();
    }

    /** Returns 64 bytes of data, the header, and its position. */
    private static byte[] bti(int epochs, int channels, int events, int processes, int time) {
        int process = 64 + 96 + 56 * epochs + 104 * channels + 72 * events;
        ByteBuffer bytes = ByteBuffer.allocate(process + 400 * processes + 8);
        bytes.putShort(64, (short) 1).put(66, "Bts".getBytes(US_ASCII));
        bytes.putShort(72, (short) 1).putShort(74, (short) 1);
        bytes.putInt(76, epochs).putInt(84, events).putFloat(92, 0.000983f).putInt(112, processes);
        bytes.putShort(116, (short) channels);
        if (processes > 0) {
            bytes.put(process + 4, "B_file_create".getBytes(US_ASCII)).putInt(process + 60, time);
        }
        bytes.putLong(bytes.capacity() - 8, 64);
        return bytes.array();
    }
}
