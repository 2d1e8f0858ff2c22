package dozo.command;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Writes a completion script for fish, for which picocli has none. */
final class FishCompletion {

    private static final String START = """
            # Whether the words so far, without options, are these.
            function __dozo_is
                set -l words (commandline -opc | string match -v -- '-*')
                test "$words[2..]" = "$argv"
            end

            # Whether the words so far, without options, begin with these.
            function __dozo_begins
                set -l words (commandline -opc | string match -v -- '-*')
                string match -q -- "$argv *" "$words[2..] "
            end

            """;

    private final StringBuilder script = new StringBuilder(START);

    private FishCompletion() {}

    static String script(CommandSpec dozo) {
        FishCompletion completion = new FishCompletion();
        dozo.subcommands().values().forEach(command -> completion.add("", command));
        return completion.script.toString();
    }

    private void add(String above, CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        String path = (above + " " + spec.name()).strip();
        line("-f -n '__dozo_is %s' -a %s -d %s".formatted(above, spec.name(), described(spec)));
        spec.options().stream().filter(option -> !option.hidden()).forEach(option -> add(path, option));
        command.getSubcommands().values().forEach(each -> add(path, each));
    }

    private static String described(CommandSpec spec) {
        return quoted(List.of(spec.usageMessage().description()));
    }

    private void add(String path, OptionSpec option) {
        StringBuilder names = new StringBuilder();
        for (String name : option.names()) {
            names.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
        }
        String value = option.typeInfo().isBoolean() ? "" : " -r";
        line("-n '__dozo_begins %s'%s%s -d %s".formatted(path, names, value, quoted(List.of(option.description()))));
    }

    /** Returns the first sentence as a word of fish. */
    private static String quoted(List<String> description) {
        String sentence = String.join(" ", description).replaceFirst("\\. .*|\\.$", "");
        return "'" + sentence.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }

    private void line(String words) {
        script.append("complete -c dozo ").append(words).append('\n');
    }
}
