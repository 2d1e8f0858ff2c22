package dozo.command;

import dozo.file.FilePath;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Recovers the exact bytes of a typed path. Java replaces bytes that are not valid in the terminal's charset; Linux
 * keeps them.
 */
final class RawArgument {

    private static final Path COMMAND_LINE = Path.of("/proc/self/cmdline");
    private static final char REPLACED = '\uFFFD';

    /** The charset with which Java decoded the arguments. */
    private static final Charset TERMINAL = Charset.forName(System.getProperty("native.encoding", "UTF-8"));

    private RawArgument() {}

    /** Returns the bytes of the absolute path that this argument names. */
    static byte[] path(String argument) {
        if (argument.indexOf(REPLACED) < 0) {
            return FilePath.rawBytes(Path.of(argument).toAbsolutePath().normalize());
        }
        byte[] typed = typed(argument);
        if (typed[0] == '/') {
            return typed;
        }
        byte[] here = FilePath.rawBytes(Path.of("").toAbsolutePath());
        ByteArrayOutputStream path = new ByteArrayOutputStream();
        path.writeBytes(here);
        path.write('/');
        path.writeBytes(typed);
        return path.toByteArray();
    }

    /** Returns the bytes of this argument, whatever its meaning. */
    static byte[] typed(String argument) {
        if (argument.indexOf(REPLACED) < 0) {
            return argument.getBytes(TERMINAL);
        }
        return find(argument, commandLine())
                .orElseThrow(() -> new Failure(
                        Exit.USAGE,
                        "the name \"%s\" cannot be decoded: set a UTF-8 locale, such as LC_ALL=C.UTF-8"
                                .formatted(argument)));
    }

    /** Returns the content of the file that an option names, of standard input for {@code -}. */
    static byte[] content(String option, String file, int bytesMax) {
        try (InputStream in = file.equals("-") ? System.in : Files.newInputStream(FilePath.pathOf(path(file)))) {
            byte[] content = in.readNBytes(bytesMax + 1);
            if (content.length > bytesMax) {
                throw new Failure(Exit.USAGE, "%s: expected at most %d bytes".formatted(option, bytesMax));
            }
            return content;
        } catch (IOException e) {
            throw new Failure(
                    Exit.USAGE, "%s: %s cannot be read: %s".formatted(option, file, Login.visible(e.toString())));
        }
    }

    /** Returns the typed bytes of an argument as Java shows it; empty if they are ambiguous or missing. */
    static Optional<byte[]> find(String argument, byte[] commandLine) {
        List<byte[]> same = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < commandLine.length; i++) {
            if (commandLine[i] == 0) {
                byte[] typed = java.util.Arrays.copyOfRange(commandLine, start, i);
                if (new String(typed, StandardCharsets.UTF_8).equals(argument)) {
                    same.add(typed);
                }
                start = i + 1;
            }
        }
        return same.size() == 1 ? Optional.of(same.getFirst()) : Optional.empty();
    }

    private static byte[] commandLine() {
        try {
            return Files.readAllBytes(COMMAND_LINE);
        } catch (IOException notLinux) {
            return new byte[0];
        }
    }
}
