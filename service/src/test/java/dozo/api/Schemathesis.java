package dozo.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Schemathesis and an OpenAPI validator from PyPI, in their own Python environment in the build folder. */
final class Schemathesis {

    private static final String RELEASE = "4.32.5";
    private static final String VALIDATOR_RELEASE = "0.9.0";
    private static final Path ENVIRONMENT =
            Path.of("target", "schemathesis-" + RELEASE).toAbsolutePath();
    private static final int LIMIT_MINUTES = 15;

    private Schemathesis() {}

    /** The exit code and the output of a program. */
    record Verdict(int exitCode, String said) {}

    /** Validates a file against the OpenAPI schema. */
    static Verdict validate(Path file) throws IOException, InterruptedException {
        return execute(file.toAbsolutePath().getParent(), List.of(program("openapi-spec-validator"), file.toString()));
    }

    /** Runs the fuzzer with these arguments in a folder for its files. The time limit grows with {@code times}. */
    static Verdict run(Path folder, List<String> arguments, int times) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("nice", "-n", "19", program("schemathesis"), "run"));
        command.addAll(arguments);
        return execute(folder, command, Math.multiplyExact(LIMIT_MINUTES, times));
    }

    /** Returns a program of the environment. Creates the environment once; the mark file is created last. */
    private static synchronized String program(String name) throws IOException, InterruptedException {
        Path whole = ENVIRONMENT.resolve("whole");
        if (Files.notExists(whole)) {
            succeed("python3", "-m", "venv", "--clear", ENVIRONMENT.toString());
            succeed(
                    ENVIRONMENT.resolve("bin/python").toString(),
                    "-m",
                    "pip",
                    "install",
                    "--disable-pip-version-check",
                    "schemathesis==" + RELEASE,
                    "openapi-spec-validator==" + VALIDATOR_RELEASE);
            Files.createFile(whole);
        }
        return ENVIRONMENT.resolve("bin").resolve(name).toString();
    }

    private static void succeed(String... command) throws IOException, InterruptedException {
        Verdict verdict = execute(Path.of("target").toAbsolutePath(), List.of(command));
        assertThat(verdict.exitCode()).as(verdict.said()).isZero();
    }

    private static Verdict execute(Path folder, List<String> command) throws IOException, InterruptedException {
        return execute(folder, command, LIMIT_MINUTES);
    }

    private static Verdict execute(Path folder, List<String> command, int minutes)
            throws IOException, InterruptedException {
        Path said = Files.createTempFile("schemathesis", ".log");
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
            builder.environment().putAll(Map.of("PYTHONUTF8", "1", "LC_ALL", "C.UTF-8", "NO_COLOR", "1"));
            builder.directory(folder.toFile());
            Process process = builder.start();
            if (!process.waitFor(minutes, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                throw new AssertionError("not done after %d minutes: %s".formatted(minutes, Files.readString(said)));
            }
            return new Verdict(process.exitValue(), Files.readString(said, StandardCharsets.UTF_8));
        } finally {
            Files.delete(said);
        }
    }
}
