package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The Library of Congress's bag validator, from PyPI, in its own Python environment below the build's folder. */
final class Bagit {

    private static final String RELEASE = "1.9.0";
    private static final Path ENVIRONMENT =
            Path.of("target", "bagit-" + RELEASE).toAbsolutePath();
    private static final int LIMIT_MINUTES = 3;

    /** Copies a folder as it appears if names are IBM437: each byte becomes its character, in UTF-8. */
    private static final String COPY_AS_IBM437 = """
            import os, shutil, sys
            def copy(above, below):
                os.mkdir(below)
                for name in os.listdir(above):
                    one, other = os.path.join(above, name), os.path.join(below, name.decode('ibm437').encode())
                    copy(one, other) if os.path.isdir(one) else shutil.copyfile(one, other)
            copy(*map(os.fsencode, sys.argv[1:]))
            """;

    private Bagit() {}

    /** A program's exit code and complete output. */
    record Verdict(int exitCode, String said) {}

    /** Validates a bag with UTF-8 names. */
    static Verdict validate(Path bag) throws IOException, InterruptedException {
        return execute(List.of(python(), "-m", "bagit", "--validate", "--quiet", bag.toString()));
    }

    /** Validates a bag with IBM437 names; {@code work} is a folder that does not exist yet. */
    static Verdict validateAsIbm437(Path bag, Path work) throws IOException, InterruptedException {
        Verdict copied = execute(List.of(python(), "-c", COPY_AS_IBM437, bag.toString(), work.toString()));
        assertThat(copied.exitCode()).as(copied.said()).isZero();
        return validate(work);
    }

    static void assertValid(Path bag) throws IOException, InterruptedException {
        Verdict verdict = validate(bag);
        assertThat(verdict.exitCode()).as(verdict.said()).isZero();
    }

    /** Creates the environment once; the validator is installed last. */
    private static synchronized String python() throws IOException, InterruptedException {
        String python = ENVIRONMENT.resolve("bin/python").toString();
        if (Files.notExists(ENVIRONMENT.resolve("bin/bagit.py"))) {
            succeed("python3", "-m", "venv", "--clear", ENVIRONMENT.toString());
            succeed(python, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "bagit==" + RELEASE);
        }
        return python;
    }

    private static void succeed(String... command) throws IOException, InterruptedException {
        Verdict verdict = execute(new ArrayList<>(List.of(command)));
        assertThat(verdict.exitCode()).as(verdict.said()).isZero();
    }

    private static Verdict execute(List<String> command) throws IOException, InterruptedException {
        Path said = Files.createTempFile("bagit", ".log");
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
            builder.environment().putAll(Map.of("PYTHONUTF8", "1", "LC_ALL", "C.UTF-8"));
            Process process = builder.start();
            if (!process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
                process.destroyForcibly();
                throw new AssertionError("not done after %d minutes: %s".formatted(LIMIT_MINUTES, command));
            }
            return new Verdict(process.exitValue(), Files.readString(said, StandardCharsets.ISO_8859_1));
        } finally {
            Files.delete(said);
        }
    }
}
