package dozo.command;

import dozo.copy.Copy;
import dozo.copy.Filter;
import dozo.copy.Filter.Rule;
import dozo.file.FilePath;
import dozo.file.Malformed;
import dozo.file.PathPattern;
import dozo.file.Selection;
import dozo.remote.Lanes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The command line of a copy.
 *
 * <p>NB: not parsed by picocli like those of the other commands. Picocli's classes are too old for Java's cache, and
 * loading them took longer than everything else before the first connection.
 */
final class CopyOptions {

    static final String HELP = """
            Usage: dozo copy [-r] [-P PORT] [-i IDENTITY] [-J HOST] [-o OPTION=VALUE]…
                             [-B] [-F FILE] [--limit RATE] [--lanes N] [--sftp]
                             [-n] [-c]
                             [--exclude PATTERN]… [--include PATTERN]…
                             [--exclude-from FILE]… [--include-from FILE]…
                             [--files-from FILE] [--manifest FILE] [-v | -q] [--json]
                             SRC… USER@HOST:/DST
              or:  dozo copy [the same options] USER@HOST:/SRC… DST
              or:  dozo copy [the same options] USER@HOST:/SRC… USER@HOST:/DST

            Copies files and folders to a site or from one over SFTP, and verifies each by
            its digest; from one site to another through this machine, which stores none
            of them. Repeat the command to finish an interrupted copy; nothing is copied
            twice.

            A single SRC is copied to DST itself: a folder's content into DST, a file as
            DST. If DST ends in a slash (or is ., .., ~ or empty), or there are several
            SRC, each is copied into DST under its own name. Unlike with scp it does not
            matter whether DST exists. A slash at the end of SRC has no effect.

            A SRC at the site may have wildcards: *, ?, [a-z]. Put it in quotes. What it
            matches is copied into DST. A name that exists is taken as it is; a backslash
            makes a wildcard a usual character.

            Paths at the site that do not begin with a slash are below the login's home
            folder. Put ./ before a local name with a colon, and brackets around an IPv6
            address; scp://USER@HOST:PORT/PATH is supported, too, with PATH below the home
            folder. -P, -i, -J and -o hold for both sites, if there are two; what differs
            goes into ~/.ssh/config, and a port also into such an address.

              -r, -a            copy folders recursively
              -p, -t, -3        keep times and modes, and copy from site to site through
                                this machine: this is always done
              -P PORT           the site's SSH port (22)
              -i IDENTITY       the private key's file; else the agent's keys, and the first
                                of id_ed25519, id_ecdsa, id_rsa in ~/.ssh. If it has a
                                passphrase, the agent signs, or it is asked for. A
                                certificate is in IDENTITY-cert.pub. If no key is
                                accepted, the terminal asks for the password
              -J HOST           a jump host in front of the site, [USER@]HOST[:PORT], or
                                several with commas; each needs a known host key; the
                                same private key is used for all
              -F FILE           read FILE instead of ~/.ssh/config; none: read neither.
                                Read are HostName, HostKeyAlias, Include, and what -o
                                supports; what is below Match is not
              -o OPTION=VALUE   an option of ssh; supported: UserKnownHostsFile, Port,
                                User, IdentityFile, IdentityAgent, ProxyJump, IPQoS,
                                StrictHostKeyChecking=yes, BatchMode
              -B                ask for nothing: -o BatchMode=yes
              --limit RATE      at most so many bytes a second: 10M, 10MB, 1.5GB, 800Mbit,
                                250000 (powers of 1,000), 16MiB (of 1,024)
              --bwlimit RATE    the same as rsync writes it: 10000 and 10000K are 10,000 KiB
              --lanes N         the number of SSH connections, 1 to 64; by default as
                                many as help
              --sftp            send small files by SFTP as well, not as archives into
                                the site's tar
              --exclude PATTERN leave out what matches: *.tmp is compared with names in any
                                folder, raw/**/*.dat and /raw with paths below SRC; with a
                                slash at the end only folders; nothing below is looked at
              --include PATTERN take what matches; of all --exclude and --include the first
                                that matches decides
              --exclude-from FILE, --include-from FILE
                                the same for each line of FILE (- for standard input),
                                except for empty lines and those that begin with # or ;.
                                "- " or "+ " before a pattern excludes or includes; a
                                line with only ! forgets all patterns before it
              --files-from FILE only the files and folders below SRC in this list (- for
                                standard input), one in a line, or each ended by a NUL, as
                                by find -print0; a folder with all that is in it
              --manifest FILE   when all is verified, write the files' digests to FILE, for
                                sha256sum -c in DST
              -n, --dry-run     print what would be copied and how long it takes, judging
                                by earlier copies; change nothing
              -c, --checksum    with -n: compare SRC with what exists in DST, by digests
                                that the site computes, and send nothing; what is only
                                in DST is ignored. A copy always compares digests
              -v, --progress    print each file when it is verified; with -n each that
                                would be copied, with -n -c each that is equal
              --json            print the result as JSON, with exact numbers
              -q                do not show progress
              -h, --help        print this
              -V, --version     print the version and the crypto that is used

            Exit codes:
              0     everything is verified, or with -n -c equal
              1     there are findings, or not everything is verified or equal
              2     invalid command line
              3     refused: a folder without -r, or SRC does not exist
              69    the site or this machine cannot be used, or failed during the copy
              70    a defect of Dozo
              77    unknown host key, no private key, or login refused
              130   interrupted by Ctrl-C; repeat the command to finish the rest
            """;

    /** Some 200,000 paths: with what is kept of each, they fit into the memory of a copy. */
    private static final int LIST_BYTES_MAX = 16 << 20;

    /** A parsed pattern takes about a hundred times as much memory. */
    private static final int PATTERNS_BYTES_MAX = 256 << 10;

    private final Login login = new Login();
    private final List<String> places = new ArrayList<>();
    private final List<Rule> rules = new ArrayList<>();
    private @Nullable String list;
    private @Nullable String manifest;
    private boolean readsStandardInput;
    private boolean folders;
    private boolean dryRun;
    private boolean checksum;
    private boolean sftpAlone;
    private boolean json;
    private boolean quiet;
    private boolean verbose;
    private boolean help;
    private boolean version;
    private long limit;
    private int lanes;

    private CopyOptions() {}

    /** Parses the arguments; throws a {@link Failure} that says what is wrong. */
    static CopyOptions of(List<String> arguments) {
        CopyOptions options = new CopyOptions();
        Deque<String> left = new ArrayDeque<>(arguments);
        while (!left.isEmpty()) {
            String argument = left.removeFirst();
            if (argument.equals("--")) {
                options.places.addAll(left);
                left.clear();
            } else if (argument.startsWith("--")) {
                options.takeLong(argument, left);
            } else if (argument.startsWith("-") && argument.length() > 1) {
                options.takeShort(argument, left);
            } else {
                options.places.add(argument);
            }
        }
        if (!options.help && !options.version && options.places.size() < 2) {
            throw usage("SRC and DST are missing");
        }
        if (options.manifest != null && options.dryRun) {
            throw usage("--manifest: a dry run verifies nothing");
        }
        if (options.list != null && options.places.size() > 2) {
            throw usage("--files-from: expected one SRC, the folder that the paths are below");
        }
        return options;
    }

    Login login() {
        return login;
    }

    List<String> places() {
        return places;
    }

    Copy.Options copy() {
        Copy.Options options = new Copy.Options(lanes, limit, dryRun, sftpAlone);
        return isComparison() ? options.comparingOnly() : options;
    }

    /** Returns whether files are compared with what exists, and not copied. */
    boolean isComparison() {
        return dryRun && checksum;
    }

    /** Returns what to take of the sources; reads the list. */
    Filter filter() {
        return list == null && rules.isEmpty() ? Filter.ALL : new Filter(rules, list == null ? Set.of() : listed(list));
    }

    private static Set<FilePath> listed(String file) {
        return new HashSet<>(parsed(
                "--files-from", () -> Selection.list(RawArgument.content("--files-from", file, LIST_BYTES_MAX))));
    }

    private static <T> T parsed(String option, Supplier<T> parser) {
        try {
            return parser.get();
        } catch (Malformed e) {
            throw usage(option + ": " + Login.visible(String.valueOf(e.getMessage())));
        }
    }

    @Nullable
    String manifest() {
        return manifest;
    }

    boolean folders() {
        return folders;
    }

    /** Returns whether files are only counted. */
    boolean dryRun() {
        return dryRun && !checksum;
    }

    boolean json() {
        return json;
    }

    boolean quiet() {
        return quiet;
    }

    /** Returns whether each file is printed. */
    boolean verbose() {
        return verbose;
    }

    boolean help() {
        return help;
    }

    boolean version() {
        return version;
    }

    private void takeLong(String argument, Deque<String> left) {
        int equals = argument.indexOf('=');
        String name = equals < 0 ? argument : argument.substring(0, equals);
        String value = equals < 0 ? null : argument.substring(equals + 1);
        switch (name) {
            case "--limit" -> limit = Amounts.rate(name, value(name, value, left));
            case "--bwlimit" -> limit = Amounts.rsyncRate(name, value(name, value, left));
            case "--exclude" -> rules.add(rule(name, false, RawArgument.typed(value(name, value, left))));
            case "--include" -> rules.add(rule(name, true, RawArgument.typed(value(name, value, left))));
            case "--exclude-from" -> addRules(name, false, file(name, value, left));
            case "--include-from" -> addRules(name, true, file(name, value, left));
            case "--files-from" -> list = file(name, value, left);
            case "--manifest" -> manifest = value(name, value, left);
            case "--lanes" -> lanes = lanes(value(name, value, left));
            case "--sftp" -> sftpAlone = isOn(name, value);
            case "--dry-run" -> dryRun = isOn(name, value);
            case "--checksum" -> checksum = isOn(name, value);
            case "--archive", "--recursive" -> folders = isOn(name, value);
            case "--progress", "--verbose" -> verbose = isOn(name, value);
            case "--quiet" -> quiet = isOn(name, value);
            case "--links", "--partial", "--perms", "--sparse", "--times" -> isOn(name, value); // always
            case "--json" -> json = isOn(name, value);
            case "--help" -> help = isOn(name, value);
            case "--version" -> version = isOn(name, value);
            default -> throw unknown(name);
        }
    }

    /** Parses one or more letters. The last one may have a value: {@code -rP2222}. */
    private void takeShort(String argument, Deque<String> left) {
        for (int i = 1; i < argument.length(); i++) {
            char letter = argument.charAt(i);
            switch (letter) {
                case 'r', 'a' -> folders = true;
                case 'n' -> dryRun = true;
                case 'c' -> checksum = true;
                case 'B' -> login.option("BatchMode=yes");
                case 'v' -> verbose = true;
                case 'q' -> quiet = true;
                case 'h' -> help = true;
                case 'V' -> version = true;
                case 'p', 't', '3' -> {
                    // Times and modes are always kept, and copies between sites always pass through this machine.
                }
                case 'P', 'i', 'J', 'o', 'F' -> {
                    String rest = argument.substring(i + 1);
                    takeLogin(letter, value("-" + letter, rest.isEmpty() ? null : rest, left));
                    return;
                }
                default -> throw unknown("-" + letter);
            }
        }
    }

    private void takeLogin(char letter, String value) {
        switch (letter) {
            case 'P' -> login.port(value);
            case 'i' -> login.identity(value);
            case 'J' -> login.jump(value);
            case 'F' -> login.config(value);
            default -> login.option(value);
        }
    }

    private static String value(String name, @Nullable String attached, Deque<String> left) {
        if (attached != null) {
            return attached;
        }
        if (left.isEmpty()) {
            throw usage(name + " requires a value");
        }
        return left.removeFirst();
    }

    private static boolean isOn(String name, @Nullable String value) {
        if (value != null) {
            throw usage(name + " takes no value");
        }
        return true;
    }

    /** Returns the name of a file to read, {@code -} for standard input. */
    private String file(String name, @Nullable String attached, Deque<String> left) {
        String file = value(name, attached, left);
        if (file.equals("-") && readsStandardInput) {
            throw usage(name + ": standard input can be read only once");
        }
        readsStandardInput |= file.equals("-");
        return file;
    }

    /** Adds a rule for each line of a file, in the format of rsync. */
    private void addRules(String option, boolean takes, String file) {
        byte[] content = RawArgument.content(option, file, PATTERNS_BYTES_MAX);
        // NB: this charset keeps all bytes of names.
        new String(content, StandardCharsets.ISO_8859_1)
                .lines()
                .filter(line -> !line.isEmpty() && !line.startsWith("#") && !line.startsWith(";"))
                .forEach(line -> addRule(option, takes, line));
    }

    private void addRule(String option, boolean takes, String line) {
        if (line.equals("!")) {
            rules.clear();
            return;
        }
        boolean signed = line.startsWith("+ ") || line.startsWith("- ");
        String pattern = signed ? line.substring(2) : line;
        rules.add(rule(option, signed ? line.startsWith("+") : takes, pattern.getBytes(StandardCharsets.ISO_8859_1)));
    }

    private static Rule rule(String option, boolean takes, byte[] pattern) {
        return parsed(option, () -> new Rule(takes, PathPattern.of(pattern)));
    }

    private static int lanes(String typed) {
        try {
            int lanes = Integer.parseInt(typed);
            if (lanes >= 1 && lanes <= Lanes.LANES_MAX) {
                return lanes;
            }
        } catch (NumberFormatException noNumber) {
            // Refused below.
        }
        throw usage("--lanes: expected a number from 1 to %d".formatted(Lanes.LANES_MAX));
    }

    private static Failure unknown(String option) {
        return usage(OtherOptions.instead(option)
                .map(instead -> "%s is not supported: %s".formatted(option, instead))
                .orElse("unknown option " + Login.visible(option)));
    }

    private static Failure usage(String message) {
        return new Failure(Exit.USAGE, message + "; see `dozo copy --help`");
    }
}
