package dozo.db;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A program of this machine that has ended.
 *
 * @param output all that it printed, errors too; each byte is a character
 */
public record Program(int exitCode, String output) {

    private static final int LIMIT_MINUTES = 5;

    /** Runs a program to its end. */
    public static Program run(ProcessBuilder program) throws IOException, InterruptedException {
        Path output = Files.createTempFile("program", ".log");
        try {
            Process process = program.redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (!process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                throw new AssertionError("not done after %d minutes: %s".formatted(LIMIT_MINUTES, program.command()));
            }
            return new Program(process.exitValue(), Files.readString(output, StandardCharsets.ISO_8859_1));
        } finally {
            Files.delete(output);
        }
    }

    public static Program run(String... command) throws IOException, InterruptedException {
        return run(new ProcessBuilder(command));
    }

    /** Runs a program that has to succeed. Returns its output. */
    public static String succeed(String... command) throws IOException, InterruptedException {
        return run(command).succeeded();
    }

    /** Returns the output of a program that has succeeded. */
    public String succeeded() {
        assertThat(exitCode).as(output).isZero();
        return output;
    }

    /** Runs Python with some packages of PyPI, in an environment below the build's folder that is created once. */
    public static Program python(
            String environment, Map<String, String> variables, String packages, String... arguments)
            throws IOException, InterruptedException {
        String python = inEnvironment(Path.of("target", environment).toAbsolutePath(), packages.split(" "));
        ProcessBuilder program = new ProcessBuilder(
                Stream.concat(Stream.of(python), Stream.of(arguments)).toList());
        program.environment().putAll(Map.of("PYTHONUTF8", "1", "LC_ALL", "C.UTF-8"));
        program.environment().putAll(variables);
        return run(program);
    }

    /** NB: the mark that it is whole is written last. */
    private static synchronized String inEnvironment(Path folder, String... packages)
            throws IOException, InterruptedException {
        String python = folder.resolve("bin/python").toString();
        if (Files.notExists(folder.resolve("whole"))) {
            succeed("python3", "-m", "venv", "--clear", folder.toString());
            Stream<String> install = Stream.of(python, "-m", "pip", "install", "--disable-pip-version-check");
            succeed(Stream.concat(install, Stream.of(packages)).toArray(String[]::new));
            Files.createFile(folder.resolve("whole"));
        }
        return python;
    }
}
