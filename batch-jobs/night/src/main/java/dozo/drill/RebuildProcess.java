package dozo.drill;

import dozo.registry.Sites.Site;
import dozo.remote.SiteAddress;
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code dozo rebuild-catalogue} in a process of its own, as on a new machine: with a work folder in the scratch folder, its embedded
 * database, and no setting or secret of this service. It logs in with the key file that the service uses for the site.
 */
final class RebuildProcess {

    /** Exit codes of the command. */
    static final int WELL = 0;

    static final int FINDINGS = 1;
    static final int REFUSED = 3;

    /** It yielded. */
    static final int STOPPED = -1;

    /** What a process needs of the environment; all else may be a setting or a secret. */
    private static final Set<String> ENVIRONMENT = Set.of("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ");

    private static final String HEAP = "-Xmx1g";
    private static final Duration LOOK = Duration.ofMillis(500);
    private static final Duration ENDING = Duration.ofSeconds(30);
    private static final int MESSAGE_CHARACTERS_MAX = 1_000;
    private static final String SAYS = "dozo: ";

    private final ServiceProgram program;
    private final Path folder;

    /** @param folder the scratch folder */
    RebuildProcess(ServiceProgram program, Path folder) {
        this.program = program;
        this.folder = folder;
    }

    /** Returns the folder of its database. */
    Path database() {
        return folder.resolve("work").resolve("postgres");
    }

    private Path output() {
        return folder.resolve("rebuild.log");
    }

    /**
     * Runs it to its end, and returns its exit code, or {@link #STOPPED} if it had to yield.
     *
     * @param key the recovery key, which only its standard input gets; null: none
     * @param yields asked twice a second
     */
    int run(Site site, @Nullable String key, boolean listsOnly, BooleanSupplier yields)
            throws IOException, InterruptedException {
        Process process = started(site, key != null, listsOnly);
        try {
            try (OutputStream in = process.getOutputStream()) {
                in.write((key == null ? "" : key + "\n").getBytes(StandardCharsets.ISO_8859_1));
            } catch (IOException ended) {
                // Its exit code says why.
            }
            while (!process.waitFor(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
                if (yields.getAsBoolean()) {
                    return STOPPED;
                }
            }
            return process.exitValue();
        } finally {
            end(process);
        }
    }

    /** Stops it as a person would; its database stops with it. */
    private static void end(Process process) {
        process.destroy();
        boolean ended = false;
        try {
            ended = process.waitFor(ENDING.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!ended) {
            process.destroyForcibly();
        }
    }

    private Process started(Site site, boolean keyed, boolean listsOnly) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), HEAP));
        command.addAll(program.options());
        // In the arguments, too: by it what a killed service has left is found.
        command.addAll(List.of("-Ddozo.work=" + folder.resolve("work"), "-cp", System.getProperty("java.class.path")));
        command.add(program.main().getName());
        command.addAll(arguments(site, keyed, listsOnly));
        ProcessBuilder java = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output().toFile()));
        java.environment().keySet().retainAll(ENVIRONMENT);
        // Also over a file of settings where the service runs.
        for (String ofService :
                List.of("URL", "USER", "PASSWORD", "PASSWORD_FILE", "OWNER_USER", "OWNER_PASSWORD_FILE")) {
            java.environment().put("DOZO_DB_" + ofService, "");
        }
        return java.start();
    }

    private List<String> arguments(Site site, boolean keyed, boolean listsOnly) throws IOException {
        SiteAddress address = site.address();
        List<String> arguments = new ArrayList<>(List.of("rebuild-catalogue"));
        arguments.addAll(List.of("--port", "" + address.port(), "--host-key", address.hostKey()));
        arguments.addAll(List.of("--identity", address.identity().toString()));
        if (address.way().dscp() != 0) {
            arguments.addAll(List.of("--dscp", "" + address.way().dscp()));
        }
        Optional<SiteAddress> jump = address.way().jump();
        if (jump.isPresent()) {
            Path hostKey = Files.writeString(
                    folder.resolve("jump-host-key"), jump.get().hostKey());
            arguments.addAll(List.of("--jump", jump.get().toString(), "--jump-host-key-file", hostKey.toString()));
        }
        if (keyed) {
            arguments.addAll(List.of("--recovery-key", "/dev/stdin"));
        }
        if (listsOnly) {
            arguments.add("--lists-only");
        }
        arguments.addAll(List.of(site.name(), "%s@%s:%s".formatted(address.user(), address.host(), address.root())));
        return arguments;
    }

    /** Returns the last line that it printed for people, and how it ended. */
    String said(int exit) throws IOException {
        // Unlike Files.lines, a reader takes bytes that are not UTF-8.
        try (BufferedReader lines = new BufferedReader(new FileReader(output().toFile(), StandardCharsets.UTF_8))) {
            String last = lines.lines()
                    .filter(line -> !line.isBlank())
                    .reduce("", (before, line) -> line.startsWith(SAYS) || !before.startsWith(SAYS) ? line : before);
            String said = last.startsWith(SAYS) ? last.substring(SAYS.length()) : last;
            return "the catalogue was not rebuilt (exit code %d): %s"
                    .formatted(exit, said.substring(0, Math.min(said.length(), MESSAGE_CHARACTERS_MAX)));
        }
    }

    /** Ends what a service that was killed has left: the command and its database. Both have this folder in their arguments. */
    static void endLeft(Path folder) {
        List<ProcessHandle> left = ProcessHandle.allProcesses()
                .filter(each -> each.info().commandLine().orElse("").contains(folder.toString()))
                .toList();
        left.forEach(ProcessHandle::destroyForcibly);
        left.forEach(each -> each.onExit().join());
    }
}
