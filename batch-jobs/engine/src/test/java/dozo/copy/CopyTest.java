package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Common parts of copy tests: a site's root, a folder for the rest, and the findings of the copies. */
abstract class CopyTest {

    static final FileTime LONG_AGO = FileTime.from(Instant.ofEpochSecond(1_000_000_000));

    /** A manner of {@link #lyingCommands}. */
    static final String OTHER_DIGEST = "digest=%064d".formatted(0);

    @TempDir
    Path folder;

    Path root;
    final List<Finding> findings = new CopyOnWriteArrayList<>();

    @BeforeEach
    void makeRoot() throws IOException {
        folder = folder.toRealPath();
        root = Files.createDirectory(folder.resolve("dr"));
    }

    LoopbackSite openSsh(String... configLines) throws IOException {
        return LoopbackSite.openSsh(folder.resolve("sshd"), root, 0, configLines);
    }

    static Options lanes(int lanes) {
        return new Options(lanes, 0, false);
    }

    void assertFindings(String... pathsAndProblems) {
        assertThat(findings)
                .extracting(finding -> finding.path() + " " + finding.problem())
                .containsExactlyInAnyOrder(pathsAndProblems);
    }

    /** Runs a copy to its end, and closes it. */
    Progress run(Copy copy) throws IOException, InterruptedException {
        try (copy) {
            return copy.run(findings::add);
        }
    }

    /**
     * Returns a site's commands with a single digest command, which does otherwise this many times for files called
     * "lying".
     */
    Path lyingCommands(int times, String manner) throws IOException {
        Path lies = Files.createDirectories(folder.resolve("lies"));
        for (int i = 0; i < times; i++) {
            Files.write(lies.resolve(String.valueOf(i)), new byte[0]);
        }
        Path bin = Files.createDirectories(folder.resolve("bin"));
        executable(bin.resolve("openssl"), "exit 127");
        executable(bin.resolve("sha256sum"), """
                /usr/bin/sha256sum "$@" | while read -r digest name; do
                    case $name in
                        */lying) rm %s/"$(ls %s | head -n 1)" && %s ;;
                    esac
                    echo "$digest  $name"
                done 2> /dev/null""".formatted(lies, lies, manner));
        return executable(folder.resolve("commands"), """
                case $SSH_ORIGINAL_COMMAND in
                    *sh*) PATH=%s:$PATH exec sh -c "$SSH_ORIGINAL_COMMAND" ;;
                    *) for sftp in /usr/lib/openssh /usr/lib/ssh /usr/libexec/openssh /usr/libexec /usr/lib; do
                           [ ! -x $sftp/sftp-server ] || exec $sftp/sftp-server
                       done ;;
                esac""".formatted(bin));
    }

    private static Path executable(Path file, String script) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + script + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /**
     * Creates names in no encoding, links to anything, and files of nothing, one byte, some megabytes, and more than
     * one range.
     */
    static void makeTree(Path source, long largeBytes) throws IOException {
        Files.createFile(source.resolve("none"));
        Files.writeString(source.resolve("one"), "1");
        Path sub = Files.createDirectory(source.resolve("sub"));
        Trees.write(sub.resolve("some"), 3_000_000);
        for (int i = 0; i < 1_200; i++) {
            Trees.write(Files.createDirectories(source.resolve("many/" + i % 7)).resolve("file" + i), i);
        }
        Path odd = Files.createDirectory(named(source, "8366834883588362")); // フォルダ, in Shift-JIS
        Files.writeString(named(odd, "ff80"), "odd");
        Files.writeString(odd.resolve("line\nfeed"), "odd too");
        Files.writeString(odd.resolve("back\\slash 'quoted\""), "odd as well");
        Files.createSymbolicLink(source.resolve("link"), Path.of("sub/some"));
        Files.createSymbolicLink(source.resolve("dangling"), Path.of("/nowhere/at all"));
        Files.createSymbolicLink(source.resolve("odd link"), named(Path.of("/"), "ff80"));
        SymbolicLinks.make("sub//./".getBytes(), source.resolve("untidy link"));
        Files.createDirectory(sub.resolve("empty"));
        Trees.write(source.resolve("large"), largeBytes);
        Files.setPosixFilePermissions(source.resolve("one"), PosixFilePermissions.fromString("r--r-----"));
        Files.setPosixFilePermissions(sub.resolve("some"), PosixFilePermissions.fromString("rwxr-x--x"));
        Files.setLastModifiedTime(source.resolve("one"), LONG_AGO);
        Files.setLastModifiedTime(sub.resolve("empty"), LONG_AGO);
        Files.setPosixFilePermissions(sub, PosixFilePermissions.fromString("r-xr-x---"));
        Files.setLastModifiedTime(sub, LONG_AGO);
    }

    static Path named(Path in, String hex) {
        return FilePath.ROOT.resolve(HexFormat.of().parseHex(hex)).under(in);
    }
}
