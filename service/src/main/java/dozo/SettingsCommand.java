package dozo;

import dozo.command.Exit;
import dozo.start.Declared;
import dozo.start.Given;
import dozo.start.Given.InForce;
import dozo.start.StartFailure;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.config.ConfigDataEnvironmentPostProcessor;
import org.springframework.core.env.StandardEnvironment;
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

    @Option(names = "--markdown", description = "Prints the table of the documentation instead.")
    private boolean markdown;

    @Override
    public Integer call() {
        PrintWriter out = java.util.Objects.requireNonNull(spec).commandLine().getOut();
        if (markdown) {
            out.print(table());
            out.flush();
            return Exit.WELL;
        }
        StandardEnvironment environment = new StandardEnvironment();
        ConfigDataEnvironmentPostProcessor.applyTo(environment);
        Given given = new Given(environment, Application.SETTINGS);
        given.inForce().forEach(each -> print(out, each));
        out.flush();
        try {
            given.check();
            return Exit.WELL;
        } catch (StartFailure wrong) {
            spec.commandLine().getErr().println("dozo: " + wrong.message());
            return wrong.exitCode();
        }
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
