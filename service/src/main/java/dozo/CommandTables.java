package dozo;

import static java.util.stream.Collectors.joining;

import dozo.command.Usage;
import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Every command, option and exit code, as {@code --help} has it, for the documentation. */
final class CommandTables {

    /** NB: copy reads its own options, and the page has a section on it. */
    private static final Set<String> ELSEWHERE = Set.of("copy", "help");

    /** What most commands have is described once, above the tables. */
    private static final Set<String> COMMON = Set.of("--help", "--version", "--url", "--json", "--quiet");

    private static final int WIDTH = 10_000;

    private final StringBuilder text = new StringBuilder();

    private CommandTables() {}

    static String made() {
        CommandTables tables = new CommandTables();
        tables.write(Application.commandLine().getCommandSpec());
        return tables.text.toString();
    }

    private void write(CommandSpec dozo) {
        text.append("## Commands\n");
        all(dozo)
                .filter(CommandTables::runs)
                .filter(command -> !ELSEWHERE.contains(command.name()))
                .sorted(Comparator.comparing(CommandSpec::qualifiedName))
                .forEach(this::describe);
        text.append("\n## Exit codes\n\n| code | meaning |\n|---|---|\n");
        dozo.usageMessage().exitCodeList().forEach((code, meaning) -> line(code.strip(), meaning));
    }

    private static Stream<CommandSpec> all(CommandSpec command) {
        return Stream.concat(
                Stream.of(command),
                command.subcommands().values().stream().flatMap(each -> all(each.getCommandSpec())));
    }

    /** Whether it does something itself, and is not only the name of a group. */
    private static boolean runs(CommandSpec command) {
        return command.userObject() instanceof Callable<?> || command.userObject() instanceof Method;
    }

    private void describe(CommandSpec spec) {
        text.append("\n### %s\n\n```sh\n%s\n```\n\n%s\n"
                .formatted(
                        spec.qualifiedName(),
                        synopsis(spec),
                        prose(spec.usageMessage().description())));
        List<ArgSpec> arguments = Stream.<ArgSpec>concat(spec.positionalParameters().stream(), spec.options().stream())
                .filter(each -> !each.hidden() && !isCommon(each))
                .toList();
        if (!arguments.isEmpty()) {
            text.append("\n| | |\n|---|---|\n");
            arguments.forEach(each -> line("`%s`".formatted(name(each)), prose(each.description())));
        }
        text.append(footer(List.of(spec.usageMessage().footer())));
        text.append("\n```sh\n%s\n```\n".formatted(String.join("\n", Usage.examples(spec))));
    }

    /** What is set out in columns stays so. */
    private static String footer(List<String> lines) {
        String whole = String.join("\n", lines).strip();
        return whole.isEmpty() ? "" : (whole.contains("\n  ") ? "\n```text\n%s\n```\n" : "\n%s\n").formatted(whole);
    }

    private static String synopsis(CommandSpec spec) {
        spec.usageMessage().autoWidth(false).width(WIDTH);
        String whole =
                new Help(spec, Help.defaultColorScheme(Ansi.OFF)).synopsis(0).strip();
        return whole.replaceFirst(" \\[-hq?V]", "").replace(" [--json]", "").replace(" [--url=URL]", "");
    }

    private static boolean isCommon(ArgSpec argument) {
        return argument instanceof OptionSpec option && COMMON.contains(option.longestName());
    }

    private static String name(ArgSpec argument) {
        String label = argument.typeInfo().isBoolean() ? "" : argument.paramLabel();
        return argument instanceof OptionSpec option
                ? Stream.of(String.join(", ", option.names()), label)
                        .filter(part -> !part.isEmpty())
                        .collect(joining(" "))
                : label;
    }

    private static String prose(String... lines) {
        return String.join(" ", lines).strip().replaceAll(" +", " ");
    }

    private void line(String... cells) {
        text.append(Stream.of(cells).map(cell -> cell.replace("|", "\\|")).collect(joining(" | ", "| ", " |\n")));
    }
}
