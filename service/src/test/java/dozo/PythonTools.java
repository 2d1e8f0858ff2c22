package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Programs from PyPI, in a Python environment of their own in a build folder. Needs the network once. */
public final class PythonTools {

    private static final int LIMIT_MINUTES = 15;

    private final Path environment;
    private final List<String> requirements;

    /**
     * Creates nothing yet.
     *
     * @param environment the folder; another release of a program needs another folder
     * @param requirements arguments of {@code pip install}
     */
    public PythonTools(Path environment, String... requirements) {
        this.environment = environment.toAbsolutePath().normalize();
        this.requirements = List.of(requirements);
    }

    /** The exit code and the output of a program. */
    public record Verdict(int exitCode, String said) {

        /** Fails unless the program ended well. */
        public void expectWell() {
            assertThat(exitCode).as(said).isZero();
        }
    }

    /** Returns the path of a program. Creates the environment once; the mark file is created last. */
    public synchronized String program(String name) throws IOException, InterruptedException {
        Path whole = environment.resolve("whole");
        if (Files.notExists(whole)) {
            Path folder = Files.createDirectories(environment).getParent();
            execute(folder, List.of("python3", "-m", "venv", "--clear", environment.toString()))
                    .expectWell();
            List<String> install = new ArrayList<>(List.of(
                    environment.resolve("bin/python").toString(),
                    "-m",
                    "pip",
                    "install",
                    "--disable-pip-version-check"));
            install.addAll(requirements);
            execute(folder, install).expectWell();
            Files.createFile(whole);
        }
        return environment.resolve("bin").resolve(name).toString();
    }

    /** Executes a command in a folder, for at most 15 minutes. */
    public static Verdict execute(Path folder, List<String> command) throws IOException, InterruptedException {
        return execute(folder, command, Map.of(), LIMIT_MINUTES);
    }

    /** Executes a command in a folder with more variables, for at most so many minutes. */
    public static Verdict execute(Path folder, List<String> command, Map<String, String> variables, int minutes)
            throws IOException, InterruptedException {
        Path said = Files.createTempFile("python", ".log");
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
            builder.environment().putAll(Map.of("PYTHONUTF8", "1", "LC_ALL", "C.UTF-8", "NO_COLOR", "1"));
            builder.environment().putAll(variables);
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
