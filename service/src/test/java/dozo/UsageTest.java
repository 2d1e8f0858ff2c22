package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Every command has an example in its help, and the example is valid. */
class UsageTest {

    /** A word, perhaps quoted. */
    private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

    @ParameterizedTest
    @MethodSource("commands")
    void theHelpHasAnExampleOfEveryCommand(String name) {
        CommandLine command = command(name);
        List<String> examples = Usage.examples(command.getCommandSpec());

        assertThat(examples).isNotEmpty();
        for (String example : examples) {
            assertThat(command.getUsageMessage()).contains("\n  " + example);
            String[] words = words(example).toArray(String[]::new);
            List<CommandLine> parsed =
                    Application.commandLine(words).parseArgs(words).asCommandLineList();
            assertThat(parsed.getLast().getCommandSpec().qualifiedName()).isEqualTo(name);
        }
    }

    @Test
    void theHelpNamesEveryCommandOnceInItsGroup() {
        CommandLine dozo = Application.commandLine();
        String help = dozo.getUsageMessage();

        String last = help.substring(help.indexOf("\nPrograms:"), help.indexOf("\nExit codes:"));
        assertThat(help).containsSubsequence("\nDaily work:", "\nAudit:", "\nSet-up:", "\nPrograms:");
        for (String name : dozo.getSubcommands().keySet()) {
            assertThat(help).containsOnlyOnce("\n  " + name + " ");
        }
        assertThat(last.lines().filter(line -> line.matches("  \\w.*"))).hasSize(13);
    }

    @Test
    void theVersionIsACommandToo() {
        assertThat(Ended.of("version")).isEqualTo(Ended.of("--version"));
    }

    @Test
    void theCompletionIsAScriptThatKnowsTheCommands() throws Exception {
        Process bash = new ProcessBuilder("bash", "-c", "source /dev/stdin && complete -p dozo").start();
        try (var in = bash.outputWriter()) {
            in.write(Ended.of("completion").out());
        }

        assertThat(new String(bash.getInputStream().readAllBytes())).contains("_complete_dozo dozo");
        assertThat(bash.waitFor()).isZero();
        assertThat(Ended.of("completion").out()).contains("acknowledge-all");
    }

    @Test
    void theCompletionOfFishKnowsCommandsOptionsAndWhatTheyDo() {
        assertThat(Ended.of("completion", "fish").out())
                .contains("complete -c dozo -f -n '__dozo_is site' -a remove -d 'Removes a site'\n")
                .contains("complete -c dozo -n '__dozo_begins run' -l wait -d '");
        assertThat(Ended.of("completion", "tcsh"))
                .extracting(
                        Ended::code, ended -> ended.err().lines().findFirst().orElseThrow())
                .containsExactly(2, "\"tcsh\": expected bash, zsh or fish");
    }

    @Test
    void theManualPageHasEveryCommand() {
        String page = Ended.of("man").out();

        assertThat(page).startsWith(".TH DOZO 1 ").contains("\n.SH EXIT STATUS\n.TP\n.B 0\n");
        assertThat(commands())
                .allSatisfy(name -> assertThat(page).contains("\n.SS " + name.replace("-", "\\-") + "\n"));
    }

    @Test
    void argumentsOfDifferentRequestsExcludeEachOther() {
        assertThat(Ended.of("origin", "arrivals", "--all", "--dismissed"))
                .extracting(Ended::code, ended -> first(ended))
                .containsExactly(2, "expected at most one of these: --all, or --dismissed");
        assertThat(Ended.of("project", "roots", "P1", "/data", "--none"))
                .extracting(Ended::code, ended -> first(ended))
                .containsExactly(2, "expected at most one of these: FOLDER, or --none");
        assertThat(Ended.of("source", "P1/E1", "--list", "/list"))
                .extracting(Ended::code, ended -> first(ended))
                .containsExactly(2, "expected one of these: --list and --list-form, or --walk");
    }

    private static String first(Ended ended) {
        return ended.err().lines().findFirst().orElseThrow();
    }

    @Test
    void aWrongArgumentPrintsTheHelpOfItsOwnCommand() {
        assertThat(Ended.of("site", "add", "dr").ends(2).err())
                .contains("\nUsage: dozo site add ")
                .doesNotContain("Daily work:");
    }

    static Stream<String> commands() {
        return all(Application.commandLine().getCommandSpec())
                .filter(each -> each.userObject() instanceof Callable<?>
                        || each.userObject() instanceof java.lang.reflect.Method)
                .map(CommandSpec::qualifiedName)
                .filter(name -> !Set.of("dozo copy", "dozo help").contains(name));
    }

    private static Stream<CommandSpec> all(CommandSpec command) {
        return command.subcommands().values().stream()
                .flatMap(each -> Stream.concat(Stream.of(each.getCommandSpec()), all(each.getCommandSpec())));
    }

    private static CommandLine command(String name) {
        CommandLine command = Application.commandLine();
        for (String word : name.split(" ")) {
            command = word.equals("dozo") ? command : command.getSubcommands().get(word);
        }
        return command;
    }

    /** Splits an example as a shell does, without the program and a redirection. */
    private static List<String> words(String example) {
        List<String> words = new ArrayList<>();
        for (var found :
                WORD.matcher(example.replaceFirst(" > .*", "")).results().toList()) {
            words.add(found.group(1) == null ? found.group(2) : found.group(1));
        }
        return words.subList(1, words.size());
    }
}
