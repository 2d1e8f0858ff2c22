package dozo;

import dozo.command.Exit;
import dozo.start.Declared;
import dozo.start.Given;
import dozo.start.Given.InForce;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints all settings. */
@Command(
        name = "settings",
        mixinStandardHelpOptions = true,
        description = {
            "Prints all settings of the service, with the values it would use if it started here now.",
            "For secrets, shows only whether they are set. Exit code 78: a setting is wrong."
        })
final class SettingsCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = "--example",
            description = "Prints an example of a settings file instead: every setting with its default, as a comment.")
    private boolean example;

    @Override
    public Integer call() {
        PrintWriter out = java.util.Objects.requireNonNull(spec).commandLine().getOut();
        if (example) {
            out.print(example());
            out.flush();
            return Exit.WELL;
        }
        Given given = Application.settings();
        given.inForce().forEach(each -> print(out, each));
        out.flush();
        given.check();
        return Exit.WELL;
    }

    private static void print(PrintWriter out, InForce each) {
        out.printf(
                "%-36s %-34s %s%n",
                each.declared().environment(), each.shown().isEmpty() ? "(empty)" : each.shown(), each.from());
    }

    /** Returns the tables of the documentation, each with its heading. */
    static String table() {
        StringBuilder table = new StringBuilder();
        for (Class<? extends Record> record : Application.SETTINGS) {
            table.append("""

                    ### %s

                    | environment | property | default | allowed | |
                    |---|---|---|---|---|
                    """.formatted(Declared.title(record)));
            Declared.in(List.of(record)).forEach(each -> table.append(line(each)));
        }
        return table.substring(1);
    }

    /** Returns a settings file in which every setting is a comment. */
    static String example() {
        StringBuilder lines = new StringBuilder("""
                # The settings of Dozo: NAME=value, one a line. A value is everything after the equals sign.
                # Every setting is shown with its default. Remove the # to change one, then restart the service.
                # dozo settings prints the settings in force and reports wrong ones.
                """);
        for (Class<? extends Record> record : Application.SETTINGS) {
            for (Declared each : Declared.in(List.of(record))) {
                lines.append("%n# %s.%n# Expected %s.%s%n#%s=%s%n"
                        .formatted(
                                plain(each.says().value()),
                                plain(each.allowed()),
                                each.standard().isEmpty()
                                        ? " Default: " + plain(each.says().empty()) + "."
                                        : "",
                                each.environment(),
                                each.standard()));
            }
        }
        return lines.toString();
    }

    /** Leaves the text of links and code, without their marks. */
    private static String plain(String markdown) {
        return markdown.replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1").replace("`", "");
    }

    private static String line(Declared each) {
        String standard =
                each.standard().isEmpty() ? "empty: " + each.says().empty() : "`%s`".formatted(each.standard());
        return "| `%s` | `%s` | %s | %s | %s |%n"
                .formatted(
                        each.environment(),
                        each.property(),
                        standard,
                        each.allowedInShort().replace("|", "\\|"),
                        each.says().value().replace("|", "\\|"));
    }
}
