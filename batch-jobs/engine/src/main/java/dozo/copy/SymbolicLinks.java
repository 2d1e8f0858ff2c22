package dozo.copy;

import dozo.file.FilePath;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Creates links with any bytes as their text. Java normalizes the text ({@code "folder/"} loses its slash); in that
 * case the system's {@code symlink} is called directly.
 */
final class SymbolicLinks {

    private SymbolicLinks() {}

    static void make(byte[] text, Path link) throws IOException {
        for (byte b : text) {
            if (b == 0) {
                throw new FileSystemException(link.toString(), null, "the link's text contains a NUL byte");
            }
        }
        if (text.length > 0) {
            Path target = FilePath.pathOfText(text);
            if (Arrays.equals(FilePath.rawText(target), text)) {
                Files.createSymbolicLink(link, target);
                return;
            }
        }
        if (symlink(text, FilePath.rawBytes(link)) != 0) {
            throw new FileSystemException(link.toString(), null, "the system refused to create a link with this text");
        }
    }

    @SuppressWarnings("restricted") // symlink(2) takes two NUL-terminated texts
    private static int symlink(byte[] text, byte[] link) {
        Linker linker = Linker.nativeLinker();
        MethodHandle symlink = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("symlink"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
        try (Arena arena = Arena.ofConfined()) {
            return (int) symlink.invokeExact(inC(arena, text), inC(arena, link));
        } catch (Throwable e) {
            throw new IllegalStateException("symlink(2) throws nothing", e);
        }
    }

    private static MemorySegment inC(Arena arena, byte[] text) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, Arrays.copyOf(text, text.length + 1));
    }
}
