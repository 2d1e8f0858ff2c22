package dozo.command;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** The help: commands by what people do with them, and an example for each. */
public final class Usage {

    private static final String EXAMPLES = "examples";

    /** The commands in the help of {@code dozo}; others follow at the end. */
    private static final String GROUPS = """
            Daily work: register experiments find status report findings alert run retry replicate pause resume stop edit frozen release \
            retire unretire retired restore drill gaps
            Audit: coverage content audit hold erasure prove manifest certificate certificate-key ledger scrub identity
            Set-up: doctor site tune recovery-key project user token origin flywheel bookings source plan forecast
            Programs: copy serve worker backup restore-service upgrade-database rebuild-catalogue settings demo completion man version help
            """;

    private Usage() {}

    /** Completes the help of a command line that has all its commands. */
    public static CommandLine complete(CommandLine dozo) {
        List<String> keys = new ArrayList<>(dozo.getHelpSectionKeys());
        keys.add(keys.indexOf(UsageMessageSpec.SECTION_KEY_EXIT_CODE_LIST_HEADING), EXAMPLES);
        dozo.setHelpSectionKeys(keys);
        dozo.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING, _ -> "");
        dozo.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_COMMAND_LIST, Usage::commands);
        completeEach(dozo);
        return dozo;
    }

    private static void completeEach(CommandLine command) {
        UsageMessageSpec usage = command.getCommandSpec().usageMessage();
        usage.description(paragraphs(usage.description()));
        usage.footer(paragraphs(usage.footer()));
        command.getSubcommands().values().forEach(each -> {
            each.getHelpSectionMap().put(EXAMPLES, help -> section(examples(help.commandSpec())));
            completeEach(each);
        });
    }

    /** Joins the lines of a text, which the help breaks where the terminal ends; lines in columns stay as they are. */
    private static String[] paragraphs(String... lines) {
        List<String> text = List.of(lines);
        if (text.stream().anyMatch(line -> line.startsWith("  "))) {
            return lines;
        }
        boolean blank = text.indexOf("") == 0;
        String joined = String.join(" ", blank ? text.subList(1, text.size()) : text);
        return blank ? new String[] {"", joined} : new String[] {joined};
    }

    private static String section(List<String> examples) {
        StringBuilder section = new StringBuilder(examples.isEmpty() ? "" : "%n%s:%n".formatted(title(examples)));
        examples.forEach(each -> section.append("  %s%n".formatted(each)));
        return section.toString();
    }

    private static String title(List<String> examples) {
        return examples.size() == 1 ? "Example" : "Examples";
    }

    private static String commands(Help help) {
        Map<String, Help> left = new LinkedHashMap<>(help.subcommands());
        StringBuilder text = new StringBuilder();
        GROUPS.lines().map(line -> line.split(": ", 2)).forEach(section -> {
            Map<String, Help> group = new LinkedHashMap<>();
            Stream.concat(Stream.of(section[1].split(" ", -1)), Verbs.listedIn(section[0]).stream())
                    .forEach(name -> {
                        Help one = left.remove(name);
                        if (one != null) {
                            group.put(name, one);
                        }
                    });
            text.append("%n%s:%n".formatted(section[0])).append(help.commandList(group));
        });
        return text.append(left.isEmpty() ? "" : help.commandList(left)).toString();
    }

    /** Returns the examples of a command; of one that only has further commands, theirs. */
    public static List<String> examples(CommandSpec command) {
        String start = command.qualifiedName() + " ";
        return examples().stream()
                .filter(each -> (each + " ").startsWith(start))
                .filter(each -> !(command.userObject() instanceof Callable<?>)
                        || !command.subcommands().containsKey(word((each + " ").substring(start.length()))))
                .toList();
    }

    private static String word(String text) {
        return text.split(" ", 2)[0];
    }

    private static List<String> examples() {
        try (InputStream in = requireNonNull(Usage.class.getResourceAsStream("examples.txt"))) {
            return Stream.concat(new String(in.readAllBytes(), StandardCharsets.UTF_8).lines(), Verbs.examples())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
