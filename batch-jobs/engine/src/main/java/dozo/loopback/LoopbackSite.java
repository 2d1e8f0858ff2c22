package dozo.loopback;

import dozo.remote.Identity;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.PublicKeyEntry;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.sftp.SftpModuleProperties;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;

/**
 * A temporary SFTP server on this machine's loopback address, for demonstrations and tests; never a DR site.
 *
 * <p>Its keys are in a folder of its own and stay the same after a restart. It is OpenSSH's {@code sshd} if that is
 * installed, as at a real site; otherwise a server inside this process. Both keep names byte for byte. It ends with
 * {@link #close}, and with this process.
 */
public final class LoopbackSite implements AutoCloseable {

    private static final Path PASSWD = Path.of("/etc/passwd");
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);
    private static final Pattern MISSING_FOLDER = Pattern.compile("Missing privilege separation directory: (\\S+)");

    private final SiteAddress address;
    private final String kind;
    private final Runnable stop;
    private final Thread atExit;

    private LoopbackSite(SiteAddress address, String kind, Runnable stop) {
        this.address = address;
        this.kind = kind;
        this.stop = stop;
        this.atExit = new Thread(stop, "stop loopback site");
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /**
     * Starts a server that gives this machine's user access to {@code root}: OpenSSH if it is installed, starts and
     * admits the user, otherwise the embedded one.
     *
     * @param state a folder for keys and configuration, created if missing
     * @param port 0 for any
     */
    public static LoopbackSite start(Path state, Path root, int port) throws IOException {
        if (sshdProgram().isPresent() && canLogIn(PASSWD, System.getProperty("user.name"))) {
            try {
                return openSsh(state, root, port, List.of());
            } catch (IOException e) {
                // The other one does.
            }
        }
        return embedded(state, root, port);
    }

    /**
     * Starts OpenSSH's server, with these additional lines in its configuration. Unless one of them says otherwise, keys are
     * exchanged by {@code curve25519-sha256}: an exchange that a quantum computer cannot break costs the client tens of
     * milliseconds for each connection.
     */
    public static LoopbackSite openSsh(Path state, Path root, int port, String... configLines) throws IOException {
        return openSsh(
                state,
                root,
                port,
                Stream.concat(Stream.of(configLines), Stream.of("KexAlgorithms curve25519-sha256"))
                        .toList());
    }

    private static LoopbackSite openSsh(Path state, Path root, int port, List<String> configLines) throws IOException {
        Path program = sshdProgram()
                .orElseThrow(
                        () -> new IOException("sshd not found on PATH or in sbin folders; install the OpenSSH server"));
        Files.createDirectories(state);
        Files.createDirectories(root);
        Path home = state.toRealPath();
        KeyPair host = key(home.resolve("host"));
        KeyPair user = key(home.resolve("user"));
        Files.writeString(home.resolve("authorized_keys"), PublicKeyEntry.toString(user.getPublic()) + "\n");
        Path config = home.resolve("sshd_config");
        Path pid = home.resolve("sshd.pid");
        endLeftBehind(pid);
        int chosen = port == 0 ? Ports.free() : port;
        List<String> lines = new ArrayList<>(List.of(
                "Port " + chosen,
                "ListenAddress " + LOOPBACK.getHostAddress(),
                "HostKey \"" + home.resolve("host") + "\"",
                "PidFile none",
                "AuthorizedKeysFile \"" + home.resolve("authorized_keys") + "\"",
                "StrictModes no",
                "UsePAM no",
                "PasswordAuthentication no",
                "KbdInteractiveAuthentication no",
                "PermitRootLogin prohibit-password",
                "PrintMotd no",
                "LogLevel ERROR",
                // Keeps a login shell from sourcing a slow start-up file for every command.
                "SetEnv SHLVL=1",
                "Subsystem sftp internal-sftp"));
        lines.addAll(configLines);
        Files.write(config, lines);
        Process process = launch(program, config, home.resolve("sshd.log"), chosen);
        Files.writeString(pid, identity(process.toHandle()));
        return new LoopbackSite(address(home, root, chosen, host), version(program), () -> stop(process));
    }

    /** Starts a server inside this process: SFTP only, no commands. */
    public static LoopbackSite embedded(Path state, Path root, int port) throws IOException {
        return embedded(state, root, port, LoopbackSftp.factory());
    }

    /** Starts a server inside this process with another SFTP subsystem. */
    public static LoopbackSite embedded(Path state, Path root, int port, SftpSubsystemFactory sftp) throws IOException {
        Files.createDirectories(state);
        Files.createDirectories(root);
        Path home = state.toRealPath();
        KeyPair host = key(home.resolve("host"));
        KeyPair user = key(home.resolve("user"));
        SshServer sshd = SshServer.setUpDefaultServer();
        sshd.setHost(LOOPBACK.getHostAddress());
        sshd.setPort(port);
        sshd.setKeyPairProvider(KeyPairProvider.wrap(host));
        sshd.setPublickeyAuthenticator((name, key, session) -> KeyUtils.compareKeys(key, user.getPublic()));
        sshd.setSubsystemFactories(List.of(sftp));
        SftpModuleProperties.FILE_HANDLE_SIZE.set(sshd, LoopbackSftp.HANDLE_BYTES);
        sshd.start();
        return new LoopbackSite(address(home, root, sshd.getPort(), host), "embedded MINA", () -> stop(sshd));
    }

    public SiteAddress address() {
        return address;
    }

    /** Returns what kind of server it is, such as {@code "OpenSSH 9.2"}. */
    public String kind() {
        return kind;
    }

    /** Stops the server at once, with every connection to it. */
    @Override
    public void close() {
        stop.run();
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The process is ending already; the hook finds the server stopped.
        }
    }

    private static void stop(Process server) {
        end(server.toHandle());
        try {
            server.waitFor(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void stop(SshServer server) {
        try {
            server.stop(true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Optional<Path> sshdProgram() {
        String path = System.getenv("PATH");
        Stream<String> folders = Stream.of(path == null ? "" : path, "/usr/sbin", "/usr/local/sbin", "/sbin")
                .flatMap(part -> Stream.of(part.split(":", -1)));
        // NB: sshd starts itself again for each connection, and therefore requires an absolute path.
        return folders.filter(folder -> folder.startsWith("/"))
                .map(folder -> Path.of(folder, "sshd"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Returns false for the user of a service, who has no shell: OpenSSH does not admit it. */
    static boolean canLogIn(Path passwd, String user) {
        try (Stream<String> lines = Files.lines(passwd, StandardCharsets.ISO_8859_1)) {
            return lines.filter(line -> line.startsWith(user + ":"))
                    .noneMatch(line -> line.endsWith("/nologin") || line.endsWith("/false"));
        } catch (IOException | UncheckedIOException e) {
            return true;
        }
    }

    private static Process launch(Path program, Path config, Path log, int port) throws IOException {
        Process first = startProcess(program, config, log);
        if (listens(first, port)) {
            return first;
        }
        String said = Files.readString(log, StandardCharsets.ISO_8859_1);
        Matcher missing = MISSING_FOLDER.matcher(said);
        if (missing.find()) {
            // As root it requires an empty folder that a freshly booted container does not have yet.
            Files.createDirectories(Path.of(missing.group(1)));
            Process second = startProcess(program, config, log);
            if (listens(second, port)) {
                return second;
            }
            said = Files.readString(log, StandardCharsets.ISO_8859_1);
        }
        throw new IOException("sshd did not start: " + said.strip());
    }

    private static Process startProcess(Path program, Path config, Path log) throws IOException {
        return new ProcessBuilder(program.toString(), "-D", "-e", "-f", config.toString())
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(log.toFile())
                .start();
    }

    /** Waits until the port answers. Returns false if the process ends before. */
    private static boolean listens(Process process, int port) throws IOException {
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        while (process.isAlive() && System.nanoTime() < deadline) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(LOOPBACK, port), 1000);
                return process.isAlive();
            } catch (IOException notYet) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            }
        }
        process.destroyForcibly();
        return false;
    }

    /** Stops the server that a killed process left behind. */
    private static void endLeftBehind(Path pid) throws IOException {
        String identity = Files.exists(pid) ? Files.readString(pid) : "";
        if (identity.isEmpty()) {
            return;
        }
        Optional<ProcessHandle> left = ProcessHandle.of(Long.parseLong(identity.split(" ", 2)[0]))
                .filter(process -> identity.equals(identity(process)));
        left.ifPresent(process -> {
            end(process);
            process.onExit()
                    .orTimeout(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                    .join();
        });
    }

    /**
     * Ends all processes of a server: one for the port, and one or two for each connection. The first is suspended before
     * the others are listed, so that it starts no further one, which would outlive the server.
     */
    private static void end(ProcessHandle server) {
        try {
            new ProcessBuilder("sh", "-c", "kill -STOP \"$0\"", String.valueOf(server.pid()))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            // All processes that are there now are ended anyway.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Stream.concat(server.descendants(), Stream.of(server)).toList().forEach(ProcessHandle::destroyForcibly);
    }

    /**
     * Returns what distinguishes a process from a later one with the same number. NB: sshd overwrites its command line.
     */
    private static String identity(ProcessHandle process) {
        return process.pid() + " " + process.info().startInstant().orElse(Instant.EPOCH);
    }

    private static String version(Path program) throws IOException {
        // NB: older versions do not know -V, but print their version in the error message.
        Process process = new ProcessBuilder(program.toString(), "-V")
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        Matcher version = Pattern.compile("OpenSSH_([0-9.]+)").matcher(said);
        return version.find() ? "OpenSSH " + version.group(1) : "OpenSSH";
    }

    private static SiteAddress address(Path home, Path root, int port, KeyPair host) throws IOException {
        return new SiteAddress(
                LOOPBACK.getHostAddress(),
                port,
                System.getProperty("user.name"),
                root.toRealPath().toString(),
                home.resolve("user"),
                PublicKeyEntry.toString(host.getPublic()));
    }

    /** Returns the key pair in this file, which is created if missing. */
    private static KeyPair key(Path file) throws IOException {
        if (!Files.exists(file)) {
            Identity.create(file, "loopback site");
        }
        return Identity.keyPairs(file).getFirst();
    }
}
