package dozo.command;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * An error as a JSON object, which is the last line of standard error if {@code --json} was asked for.
 *
 * @param kind the exit code in a word
 * @param message without the hint
 * @param hint what may help; missing: nothing is known
 * @param problem what REST said (RFC 9457); missing: it did not answer
 * @param trace where Dozo's own code failed
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
record Complaint(
        String kind,
        int exitCode,
        String message,
        String hint,
        @Nullable JsonNode problem,
        @Nullable List<String> trace) {

    /** On one line, unlike results. */
    private static final JsonMapper JSON = JsonMapper.shared();

    /** Returns whether arguments ask for JSON. */
    static boolean isAskedBy(List<String> arguments) {
        return arguments.stream().takeWhile(each -> !each.equals("--")).anyMatch("--json"::equals);
    }

    /** Prints why a command failed. Returns its exit code. */
    static int print(PrintWriter err, List<String> arguments, Exception failure) {
        boolean json = isAskedBy(arguments);
        if (failure instanceof Failure known) {
            int exitCode = known.exitCode();
            Complaint complaint =
                    new Complaint(kind(exitCode), exitCode, known.said(), known.hint(), known.problem(), null);
            err.println(json ? complaint.line() : "dozo: " + known.getMessage());
            err.flush();
            return exitCode;
        }
        if (json) {
            List<String> trace = Arrays.stream(failure.getStackTrace())
                    .map(StackTraceElement::toString)
                    .toList();
            String message = "internal error: " + failure;
            err.println(new Complaint(kind(Exit.DEFECT), Exit.DEFECT, message, "", null, trace).line());
        } else {
            err.println("dozo: internal error:");
            failure.printStackTrace(err);
        }
        err.flush();
        return Exit.DEFECT;
    }

    private String line() {
        return JSON.writeValueAsString(this);
    }

    private static String kind(int exitCode) {
        return switch (exitCode) {
            case Exit.NOT_SAFE -> "not-safe";
            case Exit.USAGE -> "usage";
            case Exit.REFUSED -> "refused";
            case Exit.UNAVAILABLE -> "unavailable";
            case Exit.NOT_ALLOWED -> "not-allowed";
            case Exit.CONFIGURATION -> "configuration";
            default -> "defect";
        };
    }
}
