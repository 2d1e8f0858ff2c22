package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntBiFunction;
import java.util.stream.Stream;

/** What a command returned and printed. */
public record Ended(int code, String out, String err) {

    private static final int LIMIT_SECONDS = 600;

    private static final String PASSWORD_FILE = "dozo.password.file";

    /** Runs a command in this process that asks this service, as its administrator. */
    public static Ended at(RunningService service, String... arguments) {
        return at(service.url(), service.passwordFile(), arguments);
    }

    /** Runs a command in this process that asks the service at an address, as the administrator with the password in a file. */
    public static Ended at(String url, Path passwordFile, String... arguments) {
        String before = System.setProperty(PASSWORD_FILE, passwordFile.toString());
        try {
            return of(
                    Stream.concat(Stream.of(arguments), Stream.of("--url", url)).toArray(String[]::new));
        } finally {
            if (before == null) {
                System.clearProperty(PASSWORD_FILE);
            } else {
                System.setProperty(PASSWORD_FILE, before);
            }
        }
    }

    /** Does the same with the words of a line, and with more arguments after them. */
    public static Ended dozo(RunningService service, String line, Object... more) {
        return at(service, words(line, more));
    }

    /** Returns the words of a line, and more arguments after them. */
    public static String[] words(String line, Object... more) {
        return Stream.concat(Stream.of(line.split(" ")), Stream.of(more).map(String::valueOf))
                .toArray(String[]::new);
    }

    /** Asserts the exit code. */
    public Ended ends(int expected) {
        assertThat(code).as(out + err).isEqualTo(expected);
        return this;
    }

    /** Runs a command in this process. */
    public static Ended of(String... arguments) {
        return by((out, err) ->
                Application.commandLine(arguments).setOut(out).setErr(err).execute(arguments));
    }

    /** Runs a command that prints by these writers: out and err. */
    public static Ended by(ToIntBiFunction<PrintWriter, PrintWriter> command) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = command.applyAsInt(new PrintWriter(out, true), new PrintWriter(err, true));
        return new Ended(code, out.toString(), err.toString());
    }

    /** Returns what a process prints that ends with 0. */
    public static String printed(String... command) throws IOException, InterruptedException {
        return of(new ProcessBuilder(command)).ends(0).out();
    }

    /** Runs a process to its end; what it printed to both outputs is in {@code out}. */
    public static Ended of(ProcessBuilder command) throws IOException, InterruptedException {
        Path output = Files.createTempFile("output", "");
        Process process = command.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            process.getOutputStream().close();
            assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
            return new Ended(process.exitValue(), new String(Files.readAllBytes(output), StandardCharsets.UTF_8), "");
        } finally {
            process.destroyForcibly();
            Files.delete(output);
        }
    }
}
