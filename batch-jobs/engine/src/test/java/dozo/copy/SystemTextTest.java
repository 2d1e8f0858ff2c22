package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dozo.db.ChildJava;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a disk lacks is understood in every language of the system. */
class SystemTextTest {

    private static final Path FULL = Path.of("/dev/full");

    /** Prints what it understands of a full disk and of a name that is too long. */
    public static void main(String[] none) {
        System.out.printf("%s %s%n", SystemText.isFull(whyFull()), SystemText.isTooLong(whyTooLong()));
    }

    /** Where a language is not installed, the texts are English. */
    @ParameterizedTest
    @CsvSource({"C, ''", "C.UTF-8, ''", "ja_JP.UTF-8, ja", "ja_JP.eucJP, ja", "en_US.UTF-8, ja", "en_US.UTF-8, de"})
    void aFullDiskIsUnderstoodInEveryLanguage(String locale, String language) throws Exception {
        assumeTrue(Files.exists(FULL), "only Linux has a device that is always full");
        ProcessBuilder builder =
                ChildJava.of(SystemTextTest.class).process().redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("LC_ALL", locale);
        builder.environment().put("LANGUAGE", language);
        Process process = builder.start();
        assertThat(process.inputReader().readLine()).isEqualTo("true true");
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void otherErrorsAreNeither() {
        assertThat(SystemText.isFull("Input/output error")).isFalse();
        assertThat(SystemText.isFull(null)).isFalse();
        assertThat(SystemText.isFull(whyTooLong())).isFalse();
        assertThat(SystemText.isReadOnly(whyTooLong())).isFalse();
    }

    private static String whyFull() {
        try (FileChannel full = FileChannel.open(FULL, StandardOpenOption.WRITE)) {
            full.write(ByteBuffer.allocate(1));
            return "";
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static String whyTooLong() {
        try {
            Files.createFile(Path.of("/" + "x".repeat(300)));
            return "";
        } catch (FileSystemException e) {
            return String.valueOf(e.getReason());
        } catch (IOException e) {
            return "";
        }
    }
}
