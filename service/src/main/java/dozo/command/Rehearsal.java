package dozo.command;

import dozo.crypto.Libcrypto;
import dozo.loopback.LoopbackSite;
import dozo.remote.SiteAddress;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Copies generated files to a site on loopback and back. The launcher has Java record this, so that later copies find
 * their classes loaded and know from the start what to compile.
 */
final class Rehearsal {

    static final String ARGUMENT = "--rehearse";

    private static final int FILES = 400;
    private static final int FOLDERS = 20;
    private static final int FILE_BYTES_MAX = 40_000;
    private static final int LARGE_MEGABYTES = 200;

    /** Ten times what a slow machine needs. A server that hangs must not block the build. */
    private static final Duration TIME_MAX = Duration.ofMinutes(3);

    private final SiteAddress site;
    private final Path knownHosts;

    private Rehearsal(SiteAddress site, Path knownHosts) {
        this.site = site;
        this.knownHosts = knownHosts;
    }

    /**
     * Rehearses in a new subfolder of this folder, and removes the subfolder. Records in {@code copy.crypto} which
     * libcrypto it has used.
     */
    static int in(Path folder) throws IOException {
        Optional<Path> libcrypto = Libcrypto.file();
        if (libcrypto.isPresent()) {
            Files.writeString(folder.resolve("copy.crypto"), libcrypto.get().toString());
        }
        Thread.ofPlatform().daemon().name("end of the rehearsal's time").start(Rehearsal::endInTime);
        Path work = Files.createTempDirectory(Files.createDirectories(folder).toRealPath(), "rehearsal");
        try (LoopbackSite loopback = LoopbackSite.start(work.resolve("keys"), work.resolve("site"), 0)) {
            SiteAddress site = loopback.address();
            Path knownHosts = Files.writeString(
                    work.resolve("known_hosts"),
                    "[%s]:%d %s%n"
                            .formatted(site.host(), site.port(), site.hostKey().strip()));
            return new Rehearsal(site, knownHosts).copies(work);
        } finally {
            remove(work);
        }
    }

    private static void endInTime() {
        try {
            Thread.sleep(TIME_MAX);
            System.err.println("dozo: the rehearsal did not end within " + TIME_MAX.toMinutes() + " minutes");
            System.exit(Exit.UNAVAILABLE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int copies(Path work) throws IOException {
        Path source = make(work.resolve("source"));
        int code = CopyCommand.execute(List.of("--help"), nowhere(), nowhere());
        code |= copy("-r", source.toString(), there(site.root() + "/all"));
        // Again, for copies that mostly exist already, and with the output for programs.
        code |= copy("-r", "--json", source.toString(), there(site.root() + "/all"));
        code |= copy("-r", there(site.root() + "/all"), work.resolve("back").toString());
        return code
                | copy(
                        there(site.root() + "/all/large.dat"),
                        work.resolve("large.dat").toString());
    }

    private String there(String path) {
        return "%s@%s:%s".formatted(site.user(), site.host(), path);
    }

    private int copy(String... arguments) {
        List<String> all = new ArrayList<>(List.of(
                "-P" + site.port(),
                "-i" + site.identity(),
                "-oUserKnownHostsFile=" + knownHosts,
                "-oStrictHostKeyChecking=yes",
                "--lanes=4"));
        all.addAll(List.of(arguments));
        PrintWriter err = new PrintWriter(System.err, true, System.err.charset());
        return CopyCommand.execute(all, nowhere(), err);
    }

    private static PrintWriter nowhere() {
        return new PrintWriter(Writer.nullWriter());
    }

    private static Path make(Path source) throws IOException {
        Random random = new Random(FILES);
        for (int i = 0; i < FILES; i++) {
            byte[] content = new byte[random.nextInt(FILE_BYTES_MAX)];
            random.nextBytes(content);
            Path folder = Files.createDirectories(source.resolve("folder%02d".formatted(i % FOLDERS)));
            Files.write(folder.resolve("file%04d.dat".formatted(i)), content);
        }
        byte[] megabyte = new byte[1_000_000];
        try (OutputStream large = Files.newOutputStream(source.resolve("large.dat"))) {
            for (int i = 0; i < LARGE_MEGABYTES; i++) {
                random.nextBytes(megabyte);
                large.write(megabyte);
            }
        }
        return source;
    }

    private static void remove(Path work) throws IOException {
        try (Stream<Path> all = Files.walk(work)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
