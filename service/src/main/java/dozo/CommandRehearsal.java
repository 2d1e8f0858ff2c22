package dozo;

import dozo.command.Exit;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine;

/**
 * Executes typical commands with the service of {@link ServiceRehearsal}. The launcher has Java record this, so that
 * later commands find their classes loaded.
 */
final class CommandRehearsal {

    static final String ARGUMENT = "--rehearse-commands";

    /** The file with the commands that do not start from this cache, for the launcher. */
    private static final String OTHERS = "with-spring.words";

    private final Path folder;

    private record Step(int code, List<String> words) {

        static Step of(int code, String... words) {
            return new Step(code, List.of(words));
        }
    }

    private CommandRehearsal(Path folder) {
        this.folder = folder;
    }

    /** Rehearses, and returns an exit code that is not 0 if a command did not do what it does at other times. */
    static int in(Path folder) throws IOException {
        CommandRehearsal rehearsal = new CommandRehearsal(folder);
        for (Step step : rehearsal.steps()) {
            int code = rehearsal.execute(step);
            if (code != step.code) {
                return code == Exit.WELL ? Exit.DEFECT : code;
            }
        }
        Files.writeString(folder.resolve(OTHERS), String.join("\n", Application.WITH_SPRING.keySet()) + "\n");
        return Exit.WELL;
    }

    private List<Step> steps() {
        return List.of(
                Step.of(Exit.WELL, "--version"),
                Step.of(Exit.WELL, "help"),
                Step.of(Exit.WELL, "help", "coverage"),
                Step.of(Exit.USAGE, "no-command"),
                Step.of(Exit.NOT_SAFE, "status"),
                Step.of(Exit.NOT_SAFE, "coverage"),
                Step.of(Exit.WELL, "project", "add", "P1"),
                Step.of(Exit.REFUSED, "project", "add", "P1 "),
                Step.of(Exit.WELL, "register", "--project", "P1", "--code", "E1", folder.toString()),
                Step.of(Exit.WELL, "experiments"),
                Step.of(Exit.WELL, "experiments", "--json"),
                Step.of(Exit.NOT_SAFE, "coverage"),
                Step.of(Exit.NOT_SAFE, "coverage", "--json"),
                Step.of(Exit.REFUSED, "run"),
                Step.of(Exit.WELL, "findings"),
                Step.of(Exit.WELL, "ledger", "list"));
    }

    private int execute(Step step) {
        StringWriter printed = new StringWriter();
        PrintWriter writer = new PrintWriter(printed);
        String[] words = step.words.toArray(String[]::new);
        CommandLine commandLine = Application.commandLine(words);
        int code = commandLine.setOut(writer).setErr(writer).execute(words);
        if (code != step.code) {
            System.err.printf(
                    "dozo %s: expected exit code %d, found %d%n%s%n",
                    String.join(" ", step.words), step.code, code, printed);
        }
        return code;
    }
}
