package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The commands of the documentation, as bash would start them: it expands their words, and starts nothing. */
final class DocCommands {

    /** Addresses that start with it are the service's. */
    static final String URL = "http://dozo";

    /** The last command of each block, so that settings after its other commands are seen too. */
    private static final String END = "end-of-block";

    private static final Pattern FENCE = Pattern.compile(" *```(\\S*)");
    /** NB: a signer's name before a key is not a command. */
    private static final Pattern SPAN = Pattern.compile("`((?:\\./)?dozo (?!ssh-)[^`]+|curl [^`]+)`");
    /** What could be the path of a program. */
    private static final Pattern PATH = Pattern.compile("[\\w.-]*(?:/[\\w.-]+)+");

    /** A redirection to or from a file; those files do not exist here. */
    private static final Pattern FILE = Pattern.compile("(?<![<>])[<>] \\S+");

    /** What bash may say: somebody types the last lines of the document. */
    private static final Pattern OPEN = Pattern.compile(".*warning: here-document .* delimited by end-of-file .*");

    /**
     * Has bash write each command to descriptor 3: the file and line it is from, its words, and the settings that it would see.
     * No program is found, so bash asks the handler. In place of a program's output there is a number.
     */
    private static final String INSTEAD = """
            set -u
            PATH=/nowhere
            DOZO_URL=%s DOZO_TOKEN_FILE=token TOKEN=token
            command_not_found_handle() {
                local name settings=()
                for name in "${!DOZO_@}"; do settings+=("$name=${!name}"); done
                printf '%%s\\0' "$file" "${BASH_LINENO[-2]}" $# "$@" ${#settings[@]} "${settings[@]}" >&3
            }
            cd() { command_not_found_handle cd "$@"; }
            cat() { command_not_found_handle cat "$@"; echo 22; }
            whoami() { echo somebody; }
            %s
            for file in *.sh; do source "./$file"; done 3> commands > /dev/null
            """;

    private DocCommands() {}

    /**
     * A fenced block of a page, or a command in a sentence.
     *
     * @param line the line of the page before its text
     * @param kind the word after the fence; a backtick for a command in a sentence
     */
    record Block(Path page, int line, String kind, String text) {

        boolean isSpan() {
            return kind.equals("`");
        }

        /** Returns the lines that a person types, at the places that they have in the page; of a block without any, nothing. */
        String typed() {
            String lines = switch (kind) {
                // NB: what begins like this is a program of its own, with arguments.
                case "sh" -> text.startsWith("#!") ? "" : text;
                case "console" -> text.replaceAll("(?m)^(?![$#] ).*$", "").replaceAll("(?m)^[$#] ", "");
                case "`" -> text.startsWith("curl") ? text : withValues(text);
                default -> "";
            };
            return lines.isBlank() ? "" : "\n".repeat(line) + lines;
        }

        /** Puts values in the place of words for numbers and days, and leaves out the marks of what is optional. */
        private static String withValues(String synopsis) {
            return synopsis.replaceAll("[\\[\\]|]", " ")
                    .replaceAll("\\b(RUN|ID|N)\\b", "1")
                    .replaceAll("\\b(FROM|UNTIL|DAY)\\b", "2026-10-01");
        }

        private String script() {
            return FILE.matcher(typed()).replaceAll("") + "\n" + END;
        }
    }

    /** A command that bash would start. */
    record Command(Block from, int line, List<String> words, Map<String, String> settings) {

        /** Returns the words without the program that runs others as another user or in a container. */
        List<String> unwrapped() {
            int first = words.indexOf(words.getFirst().equals("runuser") ? "--" : "service") + 1;
            return List.of("runuser", "docker").contains(words.getFirst()) ? words.subList(first, words.size()) : words;
        }

        boolean isEnd() {
            return words.equals(List.of(END));
        }

        String program() {
            return unwrapped().getFirst().replaceFirst(".*/", "");
        }

        List<String> arguments() {
            return unwrapped().subList(1, unwrapped().size());
        }

        @Override
        public String toString() {
            return "%s:%d: %s".formatted(DocsTest.TOP.relativize(from.page()), line, String.join(" ", words));
        }
    }

    /** Returns the pages that people write commands into; cli.md has the help's examples, see {@link UsageTest}. */
    static List<Path> pages() throws IOException {
        return DocsTest.pages().stream()
                .filter(page -> !page.endsWith("cli.md"))
                .toList();
    }

    /** Returns the blocks of a page, then the commands in its sentences. */
    static List<Block> blocks(Path page) throws IOException {
        List<Block> blocks = new ArrayList<>();
        List<Block> spans = new ArrayList<>();
        List<String> lines = Files.readAllLines(page);
        int begun = -1;
        for (int i = 0; i < lines.size(); i++) {
            var fence = FENCE.matcher(lines.get(i));
            int line = i;
            if (begun >= 0 && fence.matches()) {
                String kind = FENCE.matcher(lines.get(begun)).replaceFirst("$1");
                String text = String.join("\n", lines.subList(begun + 1, i)) + "\n";
                blocks.add(new Block(page, begun + 1, kind, text.stripIndent()));
                begun = -1;
            } else if (fence.matches()) {
                begun = i;
            } else if (begun < 0) {
                SPAN.matcher(lines.get(i))
                        .results()
                        .map(found -> new Block(page, line, "`", found.group(1)))
                        .forEach(spans::add);
            }
        }
        assertThat(begun).as(page + ": the last fence is open").isEqualTo(-1);
        blocks.addAll(spans);
        return blocks;
    }

    /** Returns the first block of a page that contains this. */
    static Block block(String page, String part) throws IOException {
        return blocks(DocsTest.TOP.resolve(page)).stream()
                .filter(each -> !each.isSpan() && each.text().contains(part))
                .findFirst()
                .orElseThrow(() -> new AssertionError(page + " has no block with " + part));
    }

    /**
     * Returns the commands of a page in its order, by files in an empty folder. Fails if bash says anything, such as that a variable
     * is not set.
     */
    static List<Command> of(Path page, Path folder) throws IOException, InterruptedException {
        List<Block> blocks =
                blocks(page).stream().filter(block -> !block.typed().isEmpty()).toList();
        if (blocks.isEmpty()) {
            return List.of();
        }
        // Functions come before files: not even a program with its path is started.
        TreeSet<String> paths = new TreeSet<>();
        for (int i = 0; i < blocks.size(); i++) {
            Files.writeString(
                    folder.resolve("%03d.sh".formatted(i)), blocks.get(i).script());
            PATH.matcher(blocks.get(i).script())
                    .results()
                    .map(MatchResult::group)
                    .forEach(paths::add);
        }
        StringBuilder functions = new StringBuilder();
        paths.forEach(path -> functions.append("%1$s() { command_not_found_handle %1$s \"$@\"; }\n".formatted(path)));
        Ended ended =
                Ended.of(new ProcessBuilder("bash", "--norc", "--noprofile", "-c", INSTEAD.formatted(URL, functions))
                        .directory(folder.toFile()));

        assertThat(ended.out().lines().filter(line -> !OPEN.matcher(line).matches()))
                .as("what bash says about %s", page)
                .isEmpty();
        return read(blocks, Files.readAllBytes(folder.resolve("commands")));
    }

    private static List<Command> read(List<Block> blocks, byte[] written) {
        Deque<String> fields = new ArrayDeque<>(List.of(new String(written, StandardCharsets.UTF_8).split("\0", -1)));
        List<Command> commands = new ArrayList<>();
        while (fields.size() > 1) {
            Block block = blocks.get(Integer.parseInt(fields.removeFirst().substring(0, 3)));
            int line = Integer.parseInt(fields.removeFirst());
            List<String> words = list(fields);
            Map<String, String> settings = new TreeMap<>();
            list(fields).forEach(each -> settings.put(each.split("=", 2)[0], each.split("=", 2)[1]));
            commands.add(new Command(block, line, words, settings));
        }
        // The programs of a pipeline run at the same time, so which is noted first is chance.
        commands.sort(Comparator.comparingInt((Command each) -> blocks.indexOf(each.from()))
                .thenComparing(Command::isEnd)
                .thenComparingInt(Command::line)
                .thenComparing(each -> String.join(" ", each.words())));
        return commands;
    }

    private static List<String> list(Deque<String> fields) {
        int length = Integer.parseInt(fields.removeFirst());
        return Stream.generate(fields::removeFirst).limit(length).toList();
    }
}
