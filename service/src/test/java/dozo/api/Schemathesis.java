package dozo.api;

import dozo.PythonTools;
import dozo.PythonTools.Verdict;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Schemathesis and an OpenAPI validator from PyPI. */
final class Schemathesis {

    private static final String RELEASE = "4.32.5";
    private static final int LIMIT_MINUTES = 15;

    private static final PythonTools TOOLS = new PythonTools(
            Path.of("target", "schemathesis-" + RELEASE), "schemathesis==" + RELEASE, "openapi-spec-validator==0.9.0");

    private Schemathesis() {}

    /** Validates a file against the OpenAPI schema. */
    static Verdict validate(Path file) throws IOException, InterruptedException {
        return PythonTools.execute(
                file.toAbsolutePath().getParent(), List.of(TOOLS.program("openapi-spec-validator"), file.toString()));
    }

    /** Runs the fuzzer with these arguments in a folder for its files. The time limit grows with {@code times}. */
    static Verdict run(Path folder, List<String> arguments, int times) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("nice", "-n", "19", TOOLS.program("schemathesis"), "run"));
        command.addAll(arguments);
        return PythonTools.execute(folder, command, Map.of(), Math.multiplyExact(LIMIT_MINUTES, times));
    }
}
