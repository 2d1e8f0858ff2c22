package dozo.remote;

import dozo.file.FilePath;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * Runs commands in the root's folder at a site. They are always the same text: the root and the names travel on standard input,
 * so that nothing the site's shell could misread is ever part of a command.
 */
final class AtRoot {

    /** Whether a name in {@code $f} is that of a regular file, and not of a link to one. */
    static final String IS_FILE = "[ -f \"$f\" ] && [ ! -L \"$f\" ]";

    /**
     * From names, each with a NUL behind it, those of regular files; never of what a link points to. A fifo would hold up
     * whoever opens it, and a link is not what was stored.
     */
    static final String FILES_ONLY = "xargs -0 sh -c 'for f; do " + IS_FILE + " && printf \"%s\\0\" \"$f\"; done' sh";

    private AtRoot() {}

    /** Runs a command with {@code input} for its standard input. */
    static CommandResult run(Lane lane, String command, byte[] input, Duration timeout)
            throws RemoteException, InterruptedException {
        ByteArrayOutputStream stdin = new ByteArrayOutputStream();
        stdin.writeBytes(line(lane.site()));
        stdin.writeBytes(input);
        // POSIX: read takes its line byte by byte from a pipe, so that what follows finds all the rest.
        String script = "export LC_ALL=C; IFS= read -r root && cd \"$root\" && " + command;
        return lane.run(script, stdin.toByteArray(), timeout);
    }

    /** Returns the root's name with a line feed. */
    static byte[] line(SiteAddress site) {
        byte[] end = "/\n".getBytes(StandardCharsets.US_ASCII);
        byte[] root = site.rootPrefix();
        byte[] line = Arrays.copyOf(root, root.length + end.length);
        System.arraycopy(end, 0, line, root.length, end.length);
        return line;
    }

    /** The names of these files as seen from the root, each with a NUL behind it. */
    static byte[] names(List<FilePath> files) {
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        for (FilePath file : files) {
            names.writeBytes(new byte[] {'.', '/'});
            names.writeBytes(file.bytes());
            names.write(0);
        }
        return names.toByteArray();
    }
}
