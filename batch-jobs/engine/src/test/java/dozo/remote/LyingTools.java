package dozo.remote;

import dozo.loopback.LoopbackSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/** Shell scripts that precede a site's digest commands in its PATH, and a replacement for its login shell. */
public final class LyingTools {

    private static final List<String> TOOLS = List.of("sha256sum", "openssl", "shasum");

    private final Path temp;
    private final Path bin;

    /** Creates the tools in the test's folder. */
    public LyingTools(Path temp) throws IOException {
        this.temp = temp;
        this.bin = Files.createDirectory(temp.resolve("bin"));
    }

    Path bin() {
        return bin;
    }

    /** Starts a real sshd whose commands find these tools first. */
    public LoopbackSite serve(Path root) throws IOException {
        return serve(root, "PATH=\"%s:$PATH\"; export PATH; exec sh -c \"$SSH_ORIGINAL_COMMAND\"".formatted(bin));
    }

    /** Starts an sshd that runs commands by this script instead of a login shell. */
    public LoopbackSite serve(Path root, String loginShell) throws IOException {
        Path forced = script(temp.resolve("login"), """
                case "$SSH_ORIGINAL_COMMAND" in
                internal-sftp)
                    PATH=/usr/lib/openssh:/usr/libexec/openssh:/usr/lib/ssh:/usr/libexec:$PATH
                    exec sftp-server ;;
                esac
                """ + loginShell);
        return LoopbackSite.openSsh(temp.resolve("state"), root, 0, "ForceCommand " + forced);
    }

    /** Makes every tool run this script with its arguments; {@code real} is the real tool. */
    public void are(String manner) throws IOException {
        Path cache = Files.createDirectories(temp.resolve("cache"));
        for (String tool : TOOLS) {
            script(bin.resolve(tool), """
                    CACHE=%s
                    PATH=${PATH#*:}
                    while [ "${1#./}" = "$1" ] && [ $# -gt 0 ]; do shift; done
                    real() { sha256sum "$@"; }
                    %s
                    """.formatted(cache, manner));
        }
    }

    /**
     * Makes the site's tar run the first script for its first archive, which the site check sends, and the other for
     * all further ones; {@code real} is the real tar.
     */
    public void tarDoes(String first, String then) throws IOException {
        script(bin.resolve("tar"), """
                PATH=${PATH#*:}
                real() { tar "$@"; }
                if [ -e %1$s ]; then
                    echo >> %1$s
                    %3$s
                else
                    : > %1$s
                    %2$s
                fi
                """.formatted(temp.resolve("archives"), first, then));
    }

    /**
     * Returns how many archives tar was given since {@link #tarDoes}, without the first.
     *
     * @throws java.nio.file.NoSuchFileException if tar was given none
     */
    public long archives() throws IOException {
        return Files.size(temp.resolve("archives"));
    }

    /** Makes the site's tar the real one, which adds a line with its folder to the returned file on each call. */
    public Path noteTar() throws IOException {
        Path calls = Files.createFile(temp.resolve("tar-calls"));
        script(bin.resolve("tar"), """
                pwd >> %s
                PATH=${PATH#*:}
                exec tar "$@"
                """.formatted(calls));
        return calls;
    }

    static Path script(Path file, String text) throws IOException {
        List<String> lines = new ArrayList<>(List.of("#!/bin/sh"));
        lines.addAll(text.lines().toList());
        Files.deleteIfExists(file);
        Files.write(file, lines);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
