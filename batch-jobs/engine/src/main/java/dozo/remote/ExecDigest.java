package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Computes digests by a command at the site: one process for as many names as fit on its command line.
 *
 * <p>The command's text is constant. The root and the names travel on its standard input, so that nothing that the
 * site's shell could misread is part of a command.
 *
 * @param tool prints a line {@code digest, space or two, name} for each name given, and a digest of its standard input
 *     if none is: {@code "sha256sum"}, {@code "openssl dgst -sha256 -r"}
 * @param patience a command that has not ended by then is abandoned, and its output ignored
 */
record ExecDigest(String tool, Patience patience) implements RemoteDigest {

    private static final Pattern TOOL = Pattern.compile("[a-z0-9 -]+");

    static final ExecDigest OPENSSL = new ExecDigest("openssl dgst -sha256 -r", Patience.USUAL);
    static final ExecDigest COREUTILS = new ExecDigest("sha256sum", Patience.USUAL);
    static final ExecDigest PERL = new ExecDigest("shasum -a 256", Patience.USUAL);

    /** Tools that may be installed, likely fastest first. */
    static final List<ExecDigest> CANDIDATES = List.of(OPENSSL, COREUTILS, PERL);

    private static final long DD_BLOCK_BYTES = 1 << 20;

    /** More than a digest and what surrounds it in a line take, without the name. */
    private static final int LINE_BYTES = 128;

    /**
     * NB: in a pattern the byte 0x85, part of many Japanese names, is a line end, which "." only matches with DOTALL.
     */
    private static final Pattern LINE = Pattern.compile("([0-9a-fA-F]{64}) [ *]\\./(.+)", Pattern.DOTALL);

    /** Its arguments: salt, object, offset, length, file. The shell's arithmetic has 64 bits. */
    private static final String ANSWER = "xargs -0 -n 5 sh -c 'b=" + Challenge.BLOCK_BYTES + "; "
            + "said=$({ [ -f \"$5\" ] && [ ! -L \"$5\" ] && { { "
            + "printf \"%s\\n\" " + Challenge.DOMAIN + " \"$1\" \"$2\" \"$3\" \"$4\"; "
            + "dd if=\"$5\" bs=$b skip=$(($3 / b)) count=$((($4 + b - 1) / b)) 2>/dev/null || echo none >&3; "
            + "} | TOOL; } || echo none; } 3>&1); "
            + "case $said in *none*) echo none;; *) printf \"%s\\n\" \"${said:-none}\";; esac' sh";

    private static final Pattern LINE_ALONE = Pattern.compile("([0-9a-fA-F]{64})(?: .*)?");

    ExecDigest {
        if (!TOOL.matcher(tool).matches()) {
            throw new IllegalArgumentException("not a plain command: " + tool);
        }
    }

    @Override
    public ExecDigest with(Patience other) {
        return new ExecDigest(tool, other);
    }

    @Override
    public String method() {
        return "exec " + tool;
    }

    @Override
    public Map<FilePath, Digest> digests(Lane lane, List<FilePath> files, long bytes)
            throws RemoteException, InterruptedException {
        Duration limit = patience.of(files.size(), bytes);
        List<FilePath> plain = new ArrayList<>();
        List<FilePath> odd = new ArrayList<>();
        for (FilePath file : files) {
            (isOdd(file) ? odd : plain).add(file);
        }
        Map<FilePath, Digest> digests = new HashMap<>();
        if (!plain.isEmpty()) {
            digests.putAll(readLines(run(lane, together(), AtRoot.names(plain), plain.size(), limit), plain));
        }
        if (!odd.isEmpty()) {
            String oneByOne =
                    "xargs -0 -n 1 sh -c '[ -f \"$0\" ] && [ ! -L \"$0\" ] && %s <\"$0\" || echo none'".formatted(tool);
            readInOrder(run(lane, oneByOne, AtRoot.names(odd), odd.size(), limit), odd, digests);
        }
        return digests;
    }

    /**
     * Checks all names in one shell, which then replaces itself with the tool. Only if some names are not files,
     * another process gets the rest: starting one costs the site more than the digest of a small file.
     */
    private String together() {
        return "{ command -v %1$s > /dev/null || exit 127; } && exec xargs -0 sh -c '".formatted(tool.split(" ", 2)[0])
                + "all=yes; for f; do " + AtRoot.IS_FILE + " || all=no; done; "
                + "[ $all = no ] || exec %1$s \"$@\"; ".formatted(tool)
                + "for f; do " + AtRoot.IS_FILE + " && printf \"%s\\0\" \"$f\"; done | xargs -0 " + tool
                + "' sh";
    }

    @Override
    public Map<Integer, Digest> ranges(Lane lane, FilePath file, long rangeBytes, Collection<Integer> numbers)
            throws RemoteException, InterruptedException {
        if (isOdd(file) || rangeBytes % DD_BLOCK_BYTES != 0) {
            return Map.of();
        }
        long blocks = rangeBytes / DD_BLOCK_BYTES;
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        names.writeBytes(new byte[] {'.', '/'});
        names.writeBytes(file.bytes());
        for (int number : numbers) {
            names.writeBytes(("\n" + number * blocks).getBytes(StandardCharsets.US_ASCII));
        }
        names.write('\n');
        String each = "dd if=\"$file\" bs=%d skip=\"$at\" count=%d 2>/dev/null | %s || echo none"
                .formatted(DD_BLOCK_BYTES, blocks, tool);
        CommandResult result = run(
                lane,
                "IFS= read -r file && while read -r at; do " + each + "; done",
                names.toByteArray(),
                numbers.size(),
                patience.of(numbers.size(), rangeBytes * numbers.size()));
        Map<Integer, Digest> digests = new HashMap<>();
        readInOrder(result, List.copyOf(numbers), digests);
        return digests;
    }

    /**
     * Asks by a process for each challenge. If the file cannot be read to the end of its range, a second line says so: then there is no
     * answer.
     */
    @Override
    public Map<Challenge, Digest> answers(Lane lane, List<Challenge> challenges)
            throws RemoteException, InterruptedException {
        ByteArrayOutputStream asked = new ByteArrayOutputStream();
        for (Challenge each : challenges) {
            String numbers = "%s\0%s\0%d\0%d\0./".formatted(each.salt(), each.object(), each.offset(), each.length());
            asked.writeBytes(numbers.getBytes(StandardCharsets.US_ASCII));
            asked.writeBytes(each.file().bytes());
            asked.write(0);
        }
        long bytes = challenges.stream().mapToLong(Challenge::length).sum();
        CommandResult result = run(
                lane,
                ANSWER.replace("TOOL", tool),
                asked.toByteArray(),
                challenges.size(),
                patience.of(challenges.size(), bytes));
        Map<Challenge, Digest> answers = new HashMap<>();
        readInOrder(result, challenges, answers);
        return answers;
    }

    @Override
    public String answering(Lane lane) {
        return method();
    }

    /** Runs a command in the root folder. It may print a line for each digest, and what is in its input. */
    private CommandResult run(Lane lane, String command, byte[] input, int digests, Duration limit)
            throws RemoteException, InterruptedException {
        CommandResult result = AtRoot.run(lane, command, input, input.length + digests * LINE_BYTES, limit);
        if (result.exitStatus() == 127 && result.output().isEmpty()) {
            throw new RemoteException(Reason.UNSUPPORTED, "command not found at the site: " + command);
        }
        // Any other exit status may mean that a file could not be read. That file has no line, which is enough.
        return result;
    }

    /** Returns whether tools print this name differently, or it would break their lines. */
    private static boolean isOdd(FilePath file) {
        for (byte b : file.bytes()) {
            if (b == '\n' || b == '\r' || b == '\\') {
                return true;
            }
        }
        return false;
    }

    /**
     * Parses digest lines. Accepts only requested names, and none with contradicting digests. If every file has a
     * digest but the command failed, the result is empty, because the cause is unknown.
     */
    private static Map<FilePath, Digest> readLines(CommandResult result, List<FilePath> files) {
        Map<String, FilePath> asked = new HashMap<>();
        for (FilePath file : files) {
            asked.put(new String(file.bytes(), StandardCharsets.ISO_8859_1), file);
        }
        Map<FilePath, Digest> digests = new HashMap<>();
        Set<FilePath> contradicted = new HashSet<>();
        for (String line : result.output().split("\n", -1)) {
            Matcher matcher = LINE.matcher(line);
            FilePath file = matcher.matches() ? asked.get(matcher.group(2)) : null;
            if (file != null) {
                Digest digest = Digest.ofHex(matcher.group(1));
                Digest before = digests.put(file, digest);
                if (before != null && !before.equals(digest)) {
                    contradicted.add(file);
                }
            }
        }
        if (result.exitStatus() != 0 && digests.size() == asked.size()) {
            return Map.of();
        }
        digests.keySet().removeAll(contradicted);
        return digests;
    }

    /** Parses one line for each name or range, in the requested order. If the number of lines differs, all are ignored. */
    private static <T> void readInOrder(CommandResult result, List<T> asked, Map<T, Digest> digests) {
        List<String> lines = result.output().lines().toList();
        for (int i = 0; i < lines.size() && lines.size() == asked.size(); i++) {
            Matcher matcher = LINE_ALONE.matcher(lines.get(i));
            if (matcher.matches()) {
                digests.put(asked.get(i), Digest.ofHex(matcher.group(1)));
            }
        }
    }
}
