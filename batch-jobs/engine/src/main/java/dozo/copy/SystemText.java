package dozo.copy;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.Charset;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The system's text of an error. Java passes on only this text, not the error's number, and it is in the language of the
 * user: what is "No space left on device" for one is "デバイスに空き領域がありません" for another.
 */
final class SystemText {

    /** ENOSPC; EDQUOT of Linux and of macOS. */
    private static final Set<String> FULL = of(28, 122, 69);

    /** EROFS. */
    private static final Set<String> READ_ONLY = of(30);

    /** ENAMETOOLONG of Linux and of macOS. */
    private static final Set<String> TOO_LONG = of(36, 63);

    private SystemText() {}

    static boolean isFull(@Nullable String text) {
        return text != null && FULL.contains(text);
    }

    static boolean isReadOnly(@Nullable String text) {
        return text != null && READ_ONLY.contains(text);
    }

    static boolean isTooLong(@Nullable String text) {
        return text != null && TOO_LONG.contains(text);
    }

    @SuppressWarnings("restricted") // strerror(3) returns a NUL-terminated text
    private static Set<String> of(int... errors) {
        Linker linker = Linker.nativeLinker();
        MethodHandle strerror = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("strerror"),
                FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
        Charset charset = Charset.forName(System.getProperty("native.encoding"));
        return IntStream.of(errors)
                .mapToObj(error -> text(strerror, error).getString(0, charset))
                .collect(Collectors.toUnmodifiableSet());
    }

    @SuppressWarnings("restricted")
    private static MemorySegment text(MethodHandle strerror, int error) {
        try {
            return ((MemorySegment) strerror.invokeExact(error)).reinterpret(Long.MAX_VALUE);
        } catch (Throwable e) {
            throw new IllegalStateException("strerror(3) throws nothing", e);
        }
    }
}
