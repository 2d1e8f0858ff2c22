package dozo.source.flywheel;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.Program;
import dozo.source.dicom.SharedData;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Flywheel's own Python client, from PyPI, accepts the emulator that the other tests use. */
class SdkIT {

    private static final String RELEASE = "23.0.0";

    @Test
    void theOfficialClientAcceptsTheEmulator() throws Exception {
        Path check = SharedData.folder()
                .resolve("../../contracts/flywheel_sdk_check.py")
                .normalize();
        assertThat(check).isRegularFile();

        Program ended;
        try (Emulator emulator = new Emulator(Hierarchy.small())) {
            ended = Program.python(
                    "flywheel-sdk-" + RELEASE,
                    Map.of("FLYWHEEL_SDK_TOTAL_RETRIES", "0"),
                    "flywheel-sdk==" + RELEASE,
                    check.toString(),
                    emulator.key());
        }

        assertThat(ended.succeeded().lines().filter(line -> line.startsWith("ok   ")))
                .as(ended.output())
                .hasSize(30);
        assertThat(ended.output()).doesNotContain("FAIL").doesNotContain("skip");
    }
}
