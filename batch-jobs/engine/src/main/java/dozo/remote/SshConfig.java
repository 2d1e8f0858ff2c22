package dozo.remote;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.apache.sshd.client.config.hosts.HostPatternValue;
import org.apache.sshd.client.config.hosts.HostPatternsHolder;

/**
 * What an OpenSSH client's configuration says of a host ({@code ssh_config(5)}), with the files it includes. As there, the first
 * value counts. Lines below {@code Match} count for no host.
 */
public final class SshConfig {

    private static final Pattern LINE = Pattern.compile("\\s*(\\w+)(?:\\s*=\\s*|\\s+)(.*?)\\s*");

    /** As in OpenSSH. */
    private static final int DEPTH_MAX = 16;

    /** Says nothing. */
    public static final SshConfig NONE = new SshConfig();

    private final List<Line> lines = new ArrayList<>();

    /** A keyword, for hosts that match all of these patterns. */
    private record Line(List<List<HostPatternValue>> hosts, String keyword, String value) {}

    private SshConfig() {}

    /**
     * Reads a file; a missing one says nothing. Relative names of included files are below its folder.
     *
     * @throws IOException with what is wrong if a file cannot be read, or includes itself
     */
    public static SshConfig in(Path file) throws IOException {
        SshConfig config = new SshConfig();
        if (Files.exists(file)) {
            config.read(file, requireNonNull(file.toAbsolutePath().getParent()), List.of(), 0);
        }
        return config;
    }

    private void read(Path file, Path folder, List<List<HostPatternValue>> before, int depth) throws IOException {
        if (depth > DEPTH_MAX) {
            throw new IOException("%s is included more than %d levels deep".formatted(file, DEPTH_MAX));
        }
        List<List<HostPatternValue>> hosts = before;
        // NB: comments may be in any encoding; all other text is ASCII.
        for (String text : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
            Matcher line = LINE.matcher(text);
            if (!line.matches()) {
                continue;
            }
            String value = line.group(2).replaceFirst("^\"(.*)\"$", "$1");
            switch (line.group(1).toLowerCase(Locale.ROOT)) {
                case "match" -> hosts = List.of(List.of());
                case "host" -> {
                    hosts = new ArrayList<>(before);
                    hosts.add(HostPatternsHolder.parsePatterns(words(value)));
                }
                case "include" -> {
                    for (String included : words(value)) {
                        for (Path each : named(folder, included)) {
                            read(each, folder, hosts, depth + 1);
                        }
                    }
                }
                default -> lines.add(new Line(hosts, line.group(1), value));
            }
        }
    }

    /** Returns the files with a name that may have wildcards, in the order of names. */
    private static List<Path> named(Path folder, String typed) throws IOException {
        Path whole = folder.resolve(typed.replaceFirst("^~/", System.getProperty("user.home") + "/"));
        Path parent = requireNonNull(whole.getParent());
        if (!Files.isDirectory(parent)) {
            return List.of();
        }
        try (DirectoryStream<Path> found = Files.newDirectoryStream(parent, String.valueOf(whole.getFileName()))) {
            return StreamSupport.stream(found.spliterator(), false).sorted().toList();
        }
    }

    private static List<String> words(String typed) {
        return List.of(typed.replace("\"", "").split("\\s+"));
    }

    /** Returns the value of a keyword for a host as typed. */
    public Optional<String> value(String host, String keyword) {
        return lines.stream()
                .filter(line -> line.keyword.equalsIgnoreCase(keyword))
                .filter(line -> line.hosts.stream().allMatch(each -> HostPatternsHolder.isHostMatch(host, 0, each)))
                .map(Line::value)
                .findFirst();
    }
}
