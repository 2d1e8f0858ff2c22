package dozo.source.flywheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Flywheel's own Python client, from PyPI, accepts the emulator that the other tests use. */
class SdkIT {

    private static final String RELEASE = "23.0.0";
    private static final Path ENVIRONMENT =
            Path.of("target", "flywheel-sdk-" + RELEASE).toAbsolutePath();
    private static final int LIMIT_MINUTES = 5;

    private record Ended(int exitCode, String said) {}

    @Test
    void theOfficialClientAcceptsTheEmulator() throws Exception {
        String shared = System.getenv("DOZO_SHARED_DATA");
        assertThat(shared != null || !"true".equals(System.getenv("DOZO_DEMAND_SHARED_DATA")))
                .as("the shared data are demanded and not there")
                .isTrue();
        assumeTrue(shared != null, "no shared data beside this clone");
        Path check = Path.of(shared).resolveSibling("contracts").resolve("flywheel_sdk_check.py");
        assertThat(check).isRegularFile();

        Ended ended;
        try (Emulator emulator = new Emulator(Hierarchy.small())) {
            ended = execute(List.of(python(), check.toString(), emulator.key()));
        }

        assertThat(ended.exitCode()).as(ended.said()).isZero();
        assertThat(ended.said().lines().filter(line -> line.startsWith("ok   ")))
                .as(ended.said())
                .hasSize(30);
        assertThat(ended.said()).doesNotContain("FAIL").doesNotContain("skip");
    }

    /** Creates the environment once; its marker file is written last. */
    private static String python() throws IOException, InterruptedException {
        String python = ENVIRONMENT.resolve("bin/python").toString();
        Path whole = ENVIRONMENT.resolve("whole");
        if (Files.notExists(whole)) {
            succeed("python3", "-m", "venv", "--clear", ENVIRONMENT.toString());
            succeed(python, "-m", "pip", "install", "--disable-pip-version-check", "flywheel-sdk==" + RELEASE);
            Files.createFile(whole);
        }
        return python;
    }

    private static void succeed(String... command) throws IOException, InterruptedException {
        Ended ended = execute(List.of(command));
        assertThat(ended.exitCode()).as(ended.said()).isZero();
    }

    private static Ended execute(List<String> command) throws IOException, InterruptedException {
        Path said = Files.createTempFile("flywheel", ".log");
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
            builder.environment()
                    .putAll(Map.of("PYTHONUTF8", "1", "LC_ALL", "C.UTF-8", "FLYWHEEL_SDK_TOTAL_RETRIES", "0"));
            Process process = builder.start();
            if (!process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                throw new AssertionError("not done after %d minutes: %s".formatted(LIMIT_MINUTES, command));
            }
            return new Ended(process.exitValue(), Files.readString(said));
        } finally {
            Files.delete(said);
        }
    }
}
