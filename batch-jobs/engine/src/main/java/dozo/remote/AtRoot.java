package dozo.remote;

import dozo.file.FilePath;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * Runs commands in the root folder of a site. Their text is constant: the root and the names travel on standard input,
 * so that nothing that the site's shell could misread is part of a command.
 */
final class AtRoot {

    /** Tests whether the name in {@code $f} is a regular file and not a link to one. */
    static final String IS_FILE = "[ -f \"$f\" ] && [ ! -L \"$f\" ]";

    /**
     * Filters names, each terminated by NUL: keeps regular files and never follows a link. A fifo would block its
     * reader, and a link is not what was stored.
     */
    static final String FILES_ONLY = "xargs -0 sh -c 'for f; do " + IS_FILE + " && printf \"%s\\0\" \"$f\"; done' sh";

    /** More than a few lines take. */
    static final int FEW_LINES_BYTES = 4 << 10;

    private AtRoot() {}

    /**
     * Runs a command with {@code input} as its standard input.
     *
     * @param answerBytesMax the most that it may print, beside a few lines
     */
    static CommandResult run(Lane lane, String command, byte[] input, int answerBytesMax, Duration timeout)
            throws RemoteException, InterruptedException {
        ByteArrayOutputStream stdin = new ByteArrayOutputStream();
        stdin.writeBytes(line(lane.site()));
        stdin.writeBytes(input);
        // POSIX: read takes its line byte by byte from a pipe, so the rest is left for the next command.
        String script = "export LC_ALL=C; IFS= read -r root && cd \"$root\" && " + command;
        return lane.run(script, stdin.toByteArray(), FEW_LINES_BYTES + answerBytesMax, timeout);
    }

    /** Returns the root's name, terminated by a line feed. */
    static byte[] line(SiteAddress site) {
        byte[] end = "/\n".getBytes(StandardCharsets.US_ASCII);
        byte[] root = site.rootPrefix();
        byte[] line = Arrays.copyOf(root, root.length + end.length);
        System.arraycopy(end, 0, line, root.length, end.length);
        return line;
    }

    /** Returns the names of these files relative to the root, each terminated by NUL. */
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
