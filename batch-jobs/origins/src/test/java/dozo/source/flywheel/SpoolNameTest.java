package dozo.source.flywheel;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.FilePath;
import dozo.source.delivery.SpoolName;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Any name or label becomes a single, valid and readable file name. */
class SpoolNameTest {

    @ParameterizedTest
    @CsvSource({
        "4784_1_1_localizer.dicom.zip, 4784_1_1_localizer.dicom.zip",
        "脳画像 ニューロ.nii.gz, 脳画像 ニューロ.nii.gz",
        "🧠 run, 🧠 run",
        "50%.txt, 50%.txt",
        ".hidden, .hidden",
        "a/b, a~2Fb",
        "../../etc/passwd, ..~2F..~2Fetc~2Fpasswd",
        "., ~2E",
        ".., ~2E~2E",
        "a~2Fb, a~7E2Fb"
    })
    void namesStayReadable(String name, String written) {
        assertThat(SpoolName.file(name, "id")).isEqualTo(written);
    }

    @Test
    void whatCannotBeSeenIsWrittenOut() {
        assertThat(SpoolName.file("a\nb\u0000c\u202egpj", "id")).isEqualTo("a~0Ab~00c~E2~80~AEgpj");
        assertThat(SpoolName.file(" lead and trail ", "id")).isEqualTo("~20lead and trail~20");
        assertThat(SpoolName.file("half \ud83d", "id")).isEqualTo("half ~uD83D");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 119, 120, 121, 239, 240, 241, 4_096})
    void everyLengthFitsAFileSystem(int length) {
        for (String letter : new String[] {"x", "脳", "🧠", "/", "\n"}) {
            String id = "650000040000000a0000000a";
            for (String name : new String[] {
                SpoolName.file(letter.repeat(length), id),
                SpoolName.twin(letter.repeat(length), id),
                SpoolName.folder(letter.repeat(length), id)
            }) {
                byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
                assertThat(bytes).hasSizeBetween(1, 255);
                assertThat(FilePath.ROOT.resolve(bytes).name()).isEqualTo(bytes);
            }
        }
    }

    @Test
    void whatIsCutOffAndWhatIsTheSameDifferByTheirIds() {
        assertThat(SpoolName.file("x".repeat(300) + "1", "id1")).endsWith("x~~id1");
        assertThat(SpoolName.folder("run", "id1")).isEqualTo("run~~id1");
        assertThat(SpoolName.folder("", "id1")).isEqualTo("~~id1");
    }
}
