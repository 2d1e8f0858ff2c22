package dozo.command;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Writes a manual page, man(7), with the help of all commands. */
final class ManPage {

    /** Wide enough that picocli breaks no line; man does this. */
    private static final int WIDTH = 10_000;

    private final StringBuilder page = new StringBuilder();

    private ManPage() {}

    static String page(CommandSpec dozo, String version) {
        ManPage made = new ManPage();
        made.page.append(".TH DOZO 1 \"\" \"%s\"\n.SH NAME\n".formatted(version));
        made.text("dozo - " + String.join(" ", dozo.usageMessage().description()));
        made.page.append(".SH SYNOPSIS\n");
        made.text("dozo COMMAND [OPTIONS]");
        made.page.append(".SH COMMANDS\n");
        dozo.subcommands().values().forEach(made::command);
        made.page.append(".SH EXIT STATUS\n");
        dozo.usageMessage().exitCodeList().forEach(made::item);
        made.page.append(".SH ENVIRONMENT\n");
        made.text(dozo.usageMessage().footer());
        return made.page.toString();
    }

    private void command(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        // A command that is not executable is only the name of a group.
        if (spec.userObject() instanceof Callable<?> || spec.userObject() instanceof java.lang.reflect.Method) {
            page.append(".SS ").append(escaped(spec.qualifiedName())).append('\n');
            page.append(escaped(synopsis(spec))).append("\n.P\n");
            text(spec.usageMessage().description());
            Stream.<ArgSpec>concat(spec.positionalParameters().stream(), spec.options().stream())
                    .filter(each -> !each.hidden())
                    .forEach(each -> item(name(each), String.join(" ", each.description())));
            text(spec.usageMessage().footer());
            List<String> examples = Usage.examples(spec);
            if (!examples.isEmpty()) {
                page.append(".P\n");
                text(examples.toArray(String[]::new));
            }
        }
        command.getSubcommands().values().forEach(this::command);
    }

    private static String synopsis(CommandSpec spec) {
        spec.usageMessage().autoWidth(false).width(WIDTH);
        return new Help(spec, Help.defaultColorScheme(Ansi.OFF)).synopsis(0).strip();
    }

    private static String name(ArgSpec argument) {
        String label = argument.typeInfo().isBoolean() ? "" : " " + argument.paramLabel();
        return argument instanceof OptionSpec option ? String.join(", ", option.names()) + label : label.strip();
    }

    private void item(String name, String meaning) {
        page.append(".TP\n.B ").append(escaped(name.strip())).append('\n');
        text(meaning);
    }

    /** Adds text; lines in columns, and commands, keep their line breaks. */
    private void text(String... lines) {
        boolean asIs = Stream.of(lines).anyMatch(line -> line.startsWith("  ") || line.startsWith("dozo "));
        page.append(asIs ? ".nf\n" : "");
        for (String line : lines) {
            page.append(line.isEmpty() ? ".P" : escaped(line)).append('\n');
        }
        page.append(asIs ? ".fi\n" : "");
    }

    /** Escapes what troff would interpret. */
    private static String escaped(String text) {
        String plain = text.replace("\\", "\\e").replace("-", "\\-");
        return plain.startsWith(".") || plain.startsWith("'") ? "\\&" + plain : plain;
    }
}
