package dozo.command;

import dozo.file.FilePath;
import dozo.remote.Agent;
import dozo.remote.Identity;
import dozo.remote.KnownHosts;
import dozo.remote.Passwords;
import dozo.remote.SiteAddress;
import dozo.remote.SshConfig;
import dozo.remote.Way;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The user, the keys and the way to a site, from the same options and files that ssh uses. */
final class Login {

    static final String UNDERSTOOD =
            "UserKnownHostsFile, StrictHostKeyChecking=yes, Port, User, IdentityFile, IdentityAgent, ProxyJump, IPQoS, BatchMode";

    private static final int PORT_USUAL = 22;
    private static final int PORT_MAX = 65_535;
    private static final Path KNOWN_TO_ALL = Path.of("/etc/ssh/ssh_known_hosts");
    private static final List<String> IDENTITIES = List.of("id_ed25519", "id_ecdsa", "id_rsa");

    private @Nullable String user;
    private @Nullable String port;
    private @Nullable String identity;
    private @Nullable String agent;
    private @Nullable String knownHosts;
    private @Nullable String jump;
    private @Nullable String mark;
    private @Nullable String batch;
    private @Nullable String file;
    private @Nullable SshConfig config;
    private @Nullable Passwords passwords;

    /** Sets who is asked for a password if no key is accepted; by default nobody. */
    void passwords(Passwords asked) {
        passwords = asked;
    }

    /** Sets the file to read instead of {@code ~/.ssh/config}, or {@code none}. */
    void config(String typed) {
        file = typed;
    }

    void port(String typed) {
        port = typed;
    }

    void identity(String typed) {
        identity = typed;
    }

    /** Sets a jump host, or several in their order, separated by commas. */
    void jump(String typed) {
        jump = typed;
    }

    /** Sets an option of ssh, {@code OPTION=VALUE}. As with ssh, the first value counts. */
    void option(String typed) {
        String[] parts = typed.strip().split("\\s*=\\s*|\\s+", 2);
        String value = parts.length < 2 ? "" : parts[1].strip();
        if (value.isEmpty()) {
            throw new Failure(Exit.USAGE, "-o %s: expected OPTION=VALUE".formatted(visible(typed)));
        }
        switch (parts[0].toLowerCase(Locale.ROOT)) {
            case "userknownhostsfile" -> knownHosts = knownHosts == null ? value : knownHosts;
            case "port" -> port = port == null ? value : port;
            case "user" -> user = user == null ? value : user;
            case "identityfile" -> identity = identity == null ? value : identity;
            case "identityagent" -> agent = agent == null ? value : agent;
            case "proxyjump" -> jump = jump == null ? value : jump;
            case "ipqos" -> mark = mark == null ? value : mark;
            case "batchmode" -> batch = batch == null ? value : batch;
            case "stricthostkeychecking" -> {
                if (!value.equalsIgnoreCase("yes")) {
                    throw new Failure(
                            Exit.USAGE,
                            "-o %s: expected yes, because hosts with an unknown key are always refused"
                                    .formatted(visible(typed)));
                }
            }
            default ->
                throw new Failure(
                        Exit.USAGE, "-o %s is not supported; expected one of %s".formatted(visible(typed), UNDERSTOOD));
        }
    }

    /** Returns the site's address, with {@code "/"} as its root. */
    SiteAddress site(Location.There there) {
        // All jump hosts are checked before the first host key is looked up.
        List<Location.There> hosts = jumpHosts(there.host());
        Optional<SiteAddress> before = Optional.empty();
        for (Location.There host : hosts) {
            before = Optional.of(at(host, null, null, before, 0));
        }
        return at(there, port, user, before, dscp(there.host()));
    }

    private SiteAddress at(
            Location.There there,
            @Nullable String givenPort,
            @Nullable String givenUser,
            Optional<SiteAddress> before,
            int dscp) {
        String typed = there.host();
        String host = configured(typed, "HostName").orElse("%h").replace("%h", typed);
        int number = there.port() > 0 ? there.port() : port(first(givenPort, typed, "Port"));
        String name = there.user() != null
                ? there.user()
                : first(givenUser, typed, "User").orElse(System.getProperty("user.name"));
        String known = configured(typed, "HostKeyAlias").orElse(host);
        boolean silent = first(batch, typed, "BatchMode").orElse("no").equalsIgnoreCase("yes");
        Optional<Passwords> asked =
                Optional.ofNullable(passwords).map(all -> silent ? Passwords.none("BatchMode is on") : all);
        Key key = key(typed, silent, asked.filter(Passwords::canAsk).isPresent());
        Way way = new Way(before, dscp, key.agent, asked);
        return new SiteAddress(host, number, name, "/", key.file, hostKey(typed, known, number), way);
    }

    private Optional<String> first(@Nullable String given, String host, String keyword) {
        return given != null ? Optional.of(given) : configured(host, keyword);
    }

    private Optional<String> configured(String host, String keyword) {
        if (config == null) {
            try {
                config = "none".equalsIgnoreCase(file)
                        ? SshConfig.NONE
                        : SshConfig.in(file == null ? home().resolve(".ssh/config") : given(file));
            } catch (IOException e) {
                throw new Failure(
                        Exit.USAGE, visible(String.valueOf(e.getMessage())) + "; -F none reads no configuration");
            }
        }
        return config.value(host, keyword);
    }

    private List<Location.There> jumpHosts(String host) {
        String typed = first(jump, host, "ProxyJump").orElse("none");
        return typed.equalsIgnoreCase("none")
                ? List.of()
                : Stream.of(typed.split(",", -1)).map(Login::jumpHost).toList();
    }

    private static Location.There jumpHost(String typed) {
        Location.There host = Location.login(typed)
                .orElseThrow(
                        () -> new Failure(Exit.USAGE, "-J %s: expected [USER@]HOST[:PORT]".formatted(visible(typed))));
        if (host.port() > PORT_MAX) {
            throw new Failure(Exit.USAGE, "-J %s: expected a port from 1 to 65535".formatted(visible(typed)));
        }
        return host;
    }

    /**
     * Returns the DSCP mark. As with ssh, the first word is for interactive sessions and the second for copies; a
     * single word is for both.
     */
    private int dscp(String host) {
        String marks = first(mark, host, "IPQoS").orElse("none");
        String[] words = marks.split("[ ,]+", -1);
        String last = words[words.length - 1];
        if (last.equalsIgnoreCase("none")) {
            return 0;
        }
        return Way.dscp(last)
                .orElseThrow(() -> new Failure(
                        Exit.USAGE,
                        "-o IPQoS=%s: expected a DSCP: cs0 to cs7, af11 to af43, ef, le, none, or 0 to 63"
                                .formatted(visible(last))));
    }

    private static int port(Optional<String> typed) {
        try {
            int number = typed.isEmpty() ? PORT_USUAL : Integer.parseInt(typed.get());
            if (number > 0 && number <= PORT_MAX) {
                return number;
            }
        } catch (NumberFormatException noNumber) {
            // Refused below.
        }
        throw new Failure(Exit.USAGE, "expected a port from 1 to 65535");
    }

    /**
     * What a login uses.
     *
     * @param agent the socket of an agent with the key, or with other keys
     */
    private record Key(Path file, Optional<Path> agent) {}

    /**
     * Returns the key to use, as ssh chooses it: a given file; else any key of the agent and the first of the usual files. The agent
     * signs if it has the key of an encrypted file; otherwise the passphrase is asked for.
     *
     * @param silent whether nothing may be asked
     * @param optional whether a login without a key is possible
     */
    private Key key(String host, boolean silent, boolean optional) {
        Optional<Path> given =
                first(identity, host, "IdentityFile").map(typed -> path(typed.replaceFirst("\\.pub$", ""), host));
        List<Path> files = given.map(List::of)
                .orElseGet(() -> IDENTITIES.stream()
                        .map(name -> home().resolve(".ssh").resolve(name))
                        .toList());
        Optional<Path> socket = agent(host);
        List<PublicKey> kept = socket.map(Agent::keys).orElse(List.of());
        Optional<Path> there = files.stream().filter(Files::exists).findFirst();
        if (given.isEmpty() && !kept.isEmpty()) {
            // NB: beside an encrypted file only its own key of the agent would be used.
            return new Key(there.filter(file -> !isEncrypted(file)).orElse(socket.orElseThrow()), socket);
        }
        if (Identity.beside(files.getFirst(), ".pub")
                        .filter(key -> Agent.has(kept, key))
                        .isPresent()
                && there.filter(file -> !isEncrypted(file)).isEmpty()) {
            return new Key(files.getFirst(), socket);
        }
        if (there.isEmpty() && given.isEmpty() && optional) {
            return new Key(files.getFirst(), Optional.empty());
        }
        Path file = there.orElseThrow(() -> new Failure(
                Exit.NOT_ALLOWED,
                given.map("private key %s does not exist"::formatted)
                        .orElse("no private key in %s, and none in an agent: specify one with -i"
                                .formatted(home().resolve(".ssh")))));
        if (isEncrypted(file)) {
            Passphrases.unlock(file, silent, optional);
        }
        return new Key(file, Optional.empty());
    }

    /** Returns the socket of the agent to ask; empty: none. */
    private Optional<Path> agent(String host) {
        String usual = "SSH_AUTH_SOCK";
        String typed = first(agent, host, "IdentityAgent").orElse(usual);
        String socket = typed.equals(usual)
                ? System.getenv(usual)
                : typed.startsWith("$")
                        ? System.getenv(typed.replaceAll("[${}]", ""))
                        : path(typed, host).toString();
        return typed.equalsIgnoreCase("none") || socket == null || socket.isEmpty()
                ? Optional.empty()
                : Optional.of(Path.of(socket));
    }

    private static boolean isEncrypted(Path file) {
        try {
            return Identity.isEncrypted(file);
        } catch (IOException e) {
            throw new Failure(Exit.NOT_ALLOWED, "the private key %s cannot be read".formatted(file));
        }
    }

    private String hostKey(String typed, String host, int port) {
        List<Path> files = new ArrayList<>();
        files.add(path(first(knownHosts, typed, "UserKnownHostsFile").orElse("~/.ssh/known_hosts"), typed));
        files.add(KNOWN_TO_ALL);
        String keys;
        try {
            keys = KnownHosts.in(files).keysOf(host, port);
        } catch (IOException e) {
            throw new Failure(Exit.NOT_ALLOWED, "the known hosts cannot be read: " + visible(String.valueOf(e)));
        }
        if (keys.isEmpty()) {
            String name = visible(host);
            throw new Failure(
                    Exit.NOT_ALLOWED,
                    "no valid host key of %s port %d in %s. Get it with%n  ssh-keyscan -p %d %s >> %s%nand compare its fingerprint with the one that the site's administrators give you: ssh-keygen -l -f %s"
                            .formatted(name, port, files, port, name, files.getFirst(), files.getFirst()));
        }
        return keys;
    }

    /** Renders foreign text so that it cannot control a terminal. */
    static String visible(String text) {
        return FilePath.render(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the absolute path. NB: a shell does not expand the ~ in UserKnownHostsFile=~/file. */
    private static Path path(String typed, String host) {
        String whole = typed.replace("%d", home().toString())
                .replace("%u", System.getProperty("user.name"))
                .replace("%n", host)
                .replace("%%", "%");
        return given(whole);
    }

    private static Path given(String typed) {
        Path path = typed.startsWith("~/") ? home().resolve(typed.substring(2)) : Path.of(typed);
        return path.toAbsolutePath();
    }

    private static Path home() {
        return Path.of(System.getProperty("user.home"));
    }
}
