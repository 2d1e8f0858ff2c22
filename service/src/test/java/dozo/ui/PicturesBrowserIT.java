package dozo.ui;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser.NewContextOptions;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dozo.Answer;
import dozo.RunningService;
import dozo.file.FilePath;
import dozo.file.Size;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.picture.Drawing;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whoever may download a file may see it, if the centre allows it: only from a proven copy, and nobody else. */
class PicturesBrowserIT {

    private static final String PICTURE = "/api/v1/experiments/OWN/E1/content/picture?path=";

    @TempDir
    static Path temporary;

    private static RunningService service;
    private static LoopbackSite site;
    private static Path copies;

    @BeforeAll
    static void start() throws Exception {
        Path folder = temporary.toRealPath();
        service = RunningService.shared(Map.of("dozo.pictures.allowed", "true"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        copies = folder.resolve("dr/OWN/E1/data");
        service.register("dr", site.address());
        for (String project : List.of("OWN", "ALIEN")) {
            Path source = Files.createDirectory(folder.resolve("source-" + project));
            Files.write(source.resolve("脳.nii"), image());
            Files.write(source.resolve("flipped.nii"), image());
            Files.write(source.resolve("cut.nii"), Arrays.copyOf(image(), 450));
            Files.writeString(source.resolve("text.dcm"), "no image");
            Files.write(source.resolve("rest.fif"), recording(100));
            if (project.equals("OWN")) {
                Files.write(source.resolve("flipped.fif"), recording(Drawing.CONTENT_BYTES_MAX));
            }
            Files.write(source.resolve("run.res4"), header());
            for (String name : List.of("run", "alone")) {
                Files.write(source.resolve(name + ".meg4"), "MEG41CP\0\0\0\0\1\0\0\0\2".getBytes(ISO_8859_1));
            }
            for (int number : new int[] {1, 2, 3, 5, 6}) {
                Files.write(source.resolve("MR." + number), instance(number));
            }
            service.createExperiment(project, "E1", source);
        }
        service.createUser("lab", Role.LAB_MANAGER, "OWN");
        service.createUser("auditor", Role.AUDITOR);
        service.backUp();
    }

    @AfterAll
    static void stop() {
        service.close();
        site.close();
    }

    /** Returns an image of 8 × 8 × 3 voxels of 8 bits (nifti1.h). */
    private static byte[] image() {
        ByteBuffer image = ByteBuffer.allocate(352 + 192).order(ByteOrder.LITTLE_ENDIAN);
        image.putInt(0, 348).putShort(40, (short) 3).putShort(42, (short) 8).putShort(44, (short) 8);
        image.putShort(46, (short) 3)
                .putShort(70, (short) 2)
                .putShort(72, (short) 8)
                .putFloat(108, 352);
        for (int i = 352; i < image.limit(); i++) {
            image.put(i, (byte) i);
        }
        return image.put(344, "n+1\0".getBytes(ISO_8859_1)).array();
    }

    /** Returns ten seconds of a MEG channel in FIFF, and a part with so many bytes behind them. */
    private static byte[] recording(int restBytes) {
        ByteBuffer file = ByteBuffer.allocate(5_000 + restBytes);
        tag(file, 100, 31, 20).put(new byte[20]);
        tag(file, 201, 4, Float.BYTES).putFloat(100);
        tag(file, 203, 30, 96).putInt(0).putInt(0).putInt(1).put(new byte[84]);
        tag(file, 300, 3, 1_000 * Integer.BYTES);
        for (int i = 0; i < 1_000; i++) {
            file.putInt(i % 10);
        }
        tag(file, 108, 3, file.remaining() - 4 * Integer.BYTES);
        return file.array();
    }

    private static ByteBuffer tag(ByteBuffer file, int kind, int type, int bytes) {
        return file.putInt(kind).putInt(type).putInt(bytes).putInt(0);
    }

    /** Returns the header of a CTF recording of two samples of a MEG channel. */
    private static byte[] header() {
        ByteBuffer file = ByteBuffer.allocate(1_846 + 1_360 + 2).put("MEG41RS\0".getBytes(ISO_8859_1));
        file.putInt(1_288, 2).putShort(1_292, (short) 1).putDouble(1_296, 100).putShort(1_312, (short) 1);
        return file.putShort(1_846 + 32, (short) 5).array();
    }

    /** Returns a data set without image (PS3.5 section 7.1.3, implicit little endian). */
    private static byte[] instance(int number) {
        ByteBuffer data = ByteBuffer.allocate(1_024).order(ByteOrder.LITTLE_ENDIAN);
        element(data, 0x0008_0016, "1.2.840.10008.5.1.4.1.1.66\0");
        element(data, 0x0008_103E, "T1w <b>");
        element(data, 0x0020_000E, "1.2.3");
        element(data, 0x0020_0011, "7");
        element(data, 0x0020_0013, String.valueOf(number));
        return Arrays.copyOf(data.array(), data.position());
    }

    private static void element(ByteBuffer data, int tag, String text) {
        String value = text.length() % 2 == 0 ? text : text + " ";
        data.putShort((short) (tag >>> Short.SIZE)).putShort((short) tag).putInt(value.length());
        data.put(value.getBytes(ISO_8859_1));
    }

    private static Page open(String user, String language, boolean script) {
        Page page = Chromium.browser()
                .newContext(new NewContextOptions().setJavaScriptEnabled(script).setLocale(language))
                .newPage();
        page.navigate(service.url() + "/login?lang=" + language);
        page.locator("input[name=username]").first().fill(user);
        page.locator("input[type=password]").fill(RunningService.PASSWORD);
        page.locator("main button").first().click();
        return page;
    }

    @Test
    void theExperimentsPageSaysWhatIsNotWholeAndWhatMayBeMissing() throws Exception {
        for (String language : List.of("en", "ja")) {
            Page page = open("lab", language, true);
            page.navigate(service.url() + "/experiments/OWN/E1?lang=" + language);

            assertThat(page.locator("#content")).containsText("5 of 6 images: 4 is missing");
            assertThat(page.locator("#content")).containsText("T1w <b>");
            assertThat(page.getByRole(AriaRole.ROW).filter(new Locator.FilterOptions().setHasText("T1w <b>")))
                    .containsText(Size.text(seriesBytes()));
            assertThat(page.locator("#content")).containsText("its header says 544 bytes, the file has 450");
            assertThat(page.locator("#content")).containsText(language.equals("en") ? "broken" : "破損");
            Axe.check(page, "experiment with content " + language, Axe.WCAG);
            page.navigate(service.url() + "/experiments/OWN/E1/content");
            Axe.check(page, "content " + language, Axe.WCAG);
            page.context().close();
        }
    }

    private static int seriesBytes() {
        return Stream.of(1, 2, 3, 5, 6)
                .mapToInt(number -> instance(number).length)
                .sum();
    }

    @Test
    void aProgramGetsTheBytesOfASeries() {
        service.as("lab")
                .get("/api/v1/experiments/OWN/E1/content/series")
                .expect(200)
                .has("/0/bytes", String.valueOf(seriesBytes()));
    }

    @Test
    void withoutAScriptItIsALinkAway() {
        Page page = open("auditor", "en", false);
        page.navigate(service.url() + "/experiments/OWN/E1");

        page.getByText("Verdicts and series").click();

        assertThat(page.locator("#content")).containsText("5 of 6 images: 4 is missing");
        page.getByText("cut.nii").click();
        assertThat(page.locator("h1")).hasText("The proof of a file");
        page.context().close();
    }

    @Test
    void aPictureIsSeenFromTheFoldersPageByKeyboard() throws Exception {
        for (String language : List.of("en", "ja")) {
            Page page = open("lab", language, true);
            page.navigate(service.url() + "/experiments/OWN/E1/manifests/1?lang=" + language);
            Locator link = page.getByRole(
                    AriaRole.LINK,
                    new Page.GetByRoleOptions().setName(language.equals("en") ? "Picture of 脳.nii" : "脳.nii の画像"));

            link.press("Enter");

            Locator picture = page.locator("img.picture");
            assertThat(picture).hasAttribute("alt", Pattern.compile(".*脳.nii.*"));
            assertThat(picture.evaluate("each => each.naturalWidth")).isEqualTo(8);
            assertThat(page.locator("figcaption")).containsText("dr");
            Axe.check(page, "picture " + language, Axe.WCAG);
            page.context().close();
        }
    }

    @Test
    void wherePicturesAreNotPossibleThePageSaysWhy() throws IOException {
        String text =
                service.page(service.browser("lab"), "/experiments/OWN/E1/picture?site=dr&entry=" + entry("text.dcm"));
        Answer japanese = service.look(
                service.browser("lab"), "/experiments/OWN/E1/picture?site=dr&entry=" + entry("text.dcm"), "ja");

        assertThat(text)
                .contains("only DICOM, NIfTI in one file, FIFF, KIT, and .meg4 beside a .res4 are drawn")
                .doesNotContain("<img");
        assertThat(japanese.text()).contains("画像はありません。");
        service.look(service.browser("lab"), "/experiments/OWN/E1/picture?site=dr&entry=99", "en")
                .expect(422);
    }

    private static int entry(String name) {
        return service.jdbc()
                .sql("""
                        select v.entry_no
                        from entry_version v join experiment e using (experiment_id) join project p using (project_id)
                        where p.code = 'OWN' and v.name = ?
                        """)
                .param(name.getBytes(ISO_8859_1))
                .query(Integer.class)
                .single();
    }

    @Test
    void aProgramGetsPngAndTheLedgerSaysWhoSawIt() {
        Answer picture = service.as("lab").get(PICTURE + "%E8%84%B3.nii");

        picture.expect(200);
        assertThat(picture.type()).isEqualTo("image/png");
        assertThat(picture.header("Cache-Control")).contains("no-store");
        assertThat(picture.text()).contains("PNG");
        assertThat(service.ledger())
                .anyMatch(row -> row.action().equals("picture.shown")
                        && row.actor().equals("lab")
                        && row.subject().equals("OWN/E1")
                        && !row.detail().contains("nii"));
        service.as("lab").get(PICTURE + "rest.fif").expect(200);
        service.as("lab").get(PICTURE + "text.dcm").isProblem(409).has("/errors/0/field", "path");
        service.as("lab").get(PICTURE + "cut.nii").isProblem(409);
        service.as("lab").get(PICTURE + "nothing").isProblem(404);
        service.as("lab").get(PICTURE.replace("?path=", "")).isProblem(422);
    }

    @Test
    void nobodySeesWhatTheyMayNotDownload() {
        service.as("auditor").get(PICTURE + "flipped.nii").expect(403);
        service.as("lab").get(PICTURE.replace("OWN", "ALIEN") + "flipped.nii").expect(404);
        String proof = "/experiments/OWN/E1/proof?path=" + Bytes.of(FilePath.of("cut.nii"));

        assertThat(service.page(service.browser("auditor"), "/experiments/OWN/E1/manifests/1"))
                .contains("flipped.nii")
                .doesNotContain("/picture?");
        assertThat(service.page(service.browser("auditor"), proof)).doesNotContain("/picture?");
        assertThat(service.page(service.browser("lab"), proof)).contains("/picture?", "See its picture");
        service.look(service.browser("auditor"), "/experiments/OWN/E1/picture?site=dr&entry=1", "en")
                .expect(403);
        service.look(service.browser("lab"), "/experiments/ALIEN/E1/picture?site=dr&entry=1", "en")
                .expect(404);
    }

    /** The header is read and proven, too. */
    @Test
    void ctfSamplesAreDrawnWithTheHeaderBesideThem() throws Exception {
        assertThat(service.as("lab").get(PICTURE + "run.meg4").expect(200).type())
                .isEqualTo("image/png");
        assertThat(service.as("lab").get(PICTURE + "alone.meg4").isProblem(409).text())
                .contains(".meg4 beside a .res4");
        assertThat(service.page(service.browser("lab"), "/experiments/OWN/E1/manifests/1"))
                .contains("Picture of run.meg4")
                .doesNotContain("Picture of run.res4");
        byte[] changed = header();
        changed[1_299]++;
        Files.write(copies.resolve("run.res4"), changed);

        assertThat(service.as("lab").get(PICTURE + "run.meg4").isProblem(409).text())
                .contains("is not what was verified");

        Files.write(copies.resolve("run.res4"), header());
        service.as("lab").get(PICTURE + "run.meg4").expect(200);
    }

    /** The beginning alone would be drawn; what follows it is proven, too. */
    @Test
    void aLargeRecordingIsShownOnlyIfAllOfItsCopyIsWhatWasVerified() throws Exception {
        service.as("lab").get(PICTURE + "flipped.fif").expect(200);
        try (RandomAccessFile copy =
                new RandomAccessFile(copies.resolve("flipped.fif").toFile(), "rw")) {
            copy.seek(copy.length() - 1);
            copy.write(1);
        }

        assertThat(service.as("lab").get(PICTURE + "flipped.fif").isProblem(409).text())
                .contains("is not what was verified");
    }

    @Test
    void aCopyThatIsNotWhatWasVerifiedIsNotShown() throws Exception {
        byte[] changed = image();
        changed[400]++;
        Files.write(copies.resolve("flipped.nii"), changed);

        Answer flipped = service.as("lab").get(PICTURE + "flipped.nii");

        assertThat(flipped.isProblem(409).text()).contains("is not what was verified");
        assertThat(service.page(
                        service.browser("lab"), "/experiments/OWN/E1/picture?site=dr&entry=" + entry("flipped.nii")))
                .contains("is not what was verified")
                .doesNotContain("<img");
    }
}
