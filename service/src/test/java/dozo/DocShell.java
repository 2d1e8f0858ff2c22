package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.DocCommands.Block;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A person who types the blocks of the documentation into bash, in a folder. Commands of Dozo run in this process, because a
 * process for each would take seconds; all other programs are real.
 */
public final class DocShell implements AutoCloseable {

    private static final int LIMIT_SECONDS = 60;

    /** NB: what a command of Dozo prints may be redirected, so the shell prints it. */
    private static final String SHELL = """
            exec 3>&1 4<&0 < /dev/null
            here=$PWD
            dozo() {
                local name code
                for name in "${!DOZO_@}"; do set -- "$name=${!name}" "$@"; done
                printf '%s\\0' dozo $# "$@" >&3
                read -r code <&4
                cat "$here/dozo.err" >&2
                cat "$here/dozo.out"
                return "$code"
            }
            ./dozo() { dozo "$@"; }
            set -eEu
            trap 'echo "line $LINENO: exit code $?"' ERR
            while read -r script <&4; do
                source "$script" > "$here/all.out" 2>&1
                printf 'end\\0' >&3
            done
            """;

    /** What differs from one time to another: text left out, numbers, units of sizes, the width of columns. */
    private static final Pattern VARIES = Pattern.compile("…|[+-]?\\d[\\d.,:+-]*|\\b[kMGT]?B\\b| +");

    private final Path folder;
    private final Map<String, String> instead = new LinkedHashMap<>();
    private final Process bash;

    /** Starts a shell with these variables. */
    public DocShell(Path folder, Map<String, String> variables) throws IOException {
        this.folder = folder;
        ProcessBuilder shell = new ProcessBuilder("bash", "--norc", "--noprofile", "-c", SHELL)
                .directory(folder.toFile())
                .redirectError(folder.resolve("shell.err").toFile());
        shell.environment().keySet().removeIf(name -> name.startsWith("DOZO_"));
        shell.environment().putAll(variables);
        bash = shell.start();
    }

    /** Types this instead of what matches a pattern. */
    public DocShell instead(String pattern, Object typed) {
        instead.put(pattern, typed.toString());
        return this;
    }

    /** Types the block of a page that contains this text, and returns what its commands print. Each must end with 0. */
    public String type(String page, String part) throws IOException {
        Block block = DocCommands.block(page, part);
        String script = block.typed();
        for (var each : instead.entrySet()) {
            script = script.replaceAll(each.getKey(), each.getValue());
        }
        Files.writeString(folder.resolve("script"), script);
        answer(folder.resolve("script"));
        String asked = field();
        while (asked.equals("dozo")) {
            answer(run());
            asked = field();
        }
        String printed = Files.readString(folder.resolve("all.out"));
        assertThat(asked).as("%s: %s", block, printed).isEqualTo("end");
        return printed;
    }

    /** Does the same, and compares what is printed with what the block shows. */
    public void typeAndCompare(String page, String part) throws IOException {
        assertThat(type(page, part)).matches(shown(page, part));
    }

    /** Returns the pattern of what a block shows. */
    public static Pattern shown(String page, String part) throws IOException {
        StringBuilder pattern = new StringBuilder();
        DocCommands.block(page, part)
                .text()
                .lines()
                .filter(line -> !line.matches("[$#] .*"))
                .forEach(line -> {
                    int end = 0;
                    for (var found : VARIES.matcher(line).results().toList()) {
                        pattern.append(Pattern.quote(line.substring(end, found.start())))
                                .append(
                                        switch (found.group().charAt(0)) {
                                            case '…' -> line.equals("…") ? "(?s:.*)" : ".*";
                                            case ' ' -> " +";
                                            case 'B', 'k', 'M', 'G', 'T' -> "[kMGT]?B";
                                            default -> "[\\d.,:+-]+";
                                        });
                        end = found.end();
                    }
                    pattern.append(Pattern.quote(line.substring(end))).append(line.equals("…") ? "" : "\n");
                });
        return Pattern.compile(pattern.toString());
    }

    /** Runs a command of Dozo, and returns its exit code. Its settings are before its words. */
    private int run() throws IOException {
        List<String> words = new ArrayList<>();
        for (int left = Integer.parseInt(field()); left > 0; left--) {
            words.add(field());
        }
        Map<String, String> settings = new HashMap<>();
        while (words.getFirst().startsWith("DOZO_")) {
            String[] setting = words.removeFirst().split("=", 2);
            settings.put(setting[0].toLowerCase(Locale.ROOT).replace('_', '.'), setting[1]);
        }
        String url = settings.remove("dozo.url");
        if (url != null && !words.getFirst().equals("copy")) {
            words.addAll(List.of("--url", url));
        }
        settings.forEach(System::setProperty);
        String home = System.setProperty("user.home", folder.toString());
        try {
            Ended ended = Ended.of(words.toArray(String[]::new));
            Files.writeString(folder.resolve("dozo.out"), ended.out());
            Files.writeString(folder.resolve("dozo.err"), ended.err());
            return ended.code();
        } finally {
            System.setProperty("user.home", home);
            settings.keySet().forEach(System::clearProperty);
        }
    }

    /** Returns what bash sends, up to a NUL or its end. */
    private String field() throws IOException {
        ByteArrayOutputStream field = new ByteArrayOutputStream();
        for (int next = bash.getInputStream().read();
                next > 0;
                next = bash.getInputStream().read()) {
            field.write(next);
        }
        return field.toString(StandardCharsets.UTF_8);
    }

    private void answer(Object line) throws IOException {
        bash.outputWriter(StandardCharsets.UTF_8).append(line + "\n").flush();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        bash.getOutputStream().close();
        if (!bash.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            bash.destroyForcibly();
        }
    }
}
