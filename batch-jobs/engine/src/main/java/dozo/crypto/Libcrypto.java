package dozo.crypto;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * This machine's OpenSSL libcrypto. It is used only if it can be loaded, has version 3, and gives the known answers of
 * FIPS 180-4 and of the GCM specification; otherwise Java's own algorithms are used, which are slower.
 *
 * <p>Calls are critical: they use arrays of the Java heap in place, and the garbage collector waits for them. Therefore
 * none may take long; see {@link #CALL_BYTES_MAX}.
 */
@SuppressWarnings("restricted") // native calls; the launcher enables them
public final class Libcrypto {

    /** The property that names another library; if that does not exist, none is used. */
    static final String PROPERTY = "crypto.library";

    /** The limit of one call: less than 0.1 ms. */
    static final int CALL_BYTES_MAX = 64 << 10;

    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    static final AddressLayout ADDRESS = ValueLayout.ADDRESS;

    private static final long VERSION_3 = 0x3000_0000L;
    private static final long VERSION_4 = 0x4000_0000L;
    private static final int VERSION_TEXT_MAX = 200;

    private static final Optional<Libcrypto> FOUND;
    private static final String NOTE;

    static {
        Libcrypto found = null;
        String note;
        try {
            Libcrypto candidate = new Libcrypto(System.getProperty(PROPERTY, "libcrypto.so.3"));
            Sha256.check(candidate);
            AesGcm.check(candidate);
            found = candidate;
            note = candidate.text;
        } catch (IllegalArgumentException | IllegalStateException | LinkageError | UnsupportedOperationException e) {
            note = "Java's own crypto (%s)".formatted(e.getMessage());
        }
        FOUND = Optional.ofNullable(found);
        NOTE = note;
    }

    private final Linker linker = Linker.nativeLinker();
    private final SymbolLookup library;
    private final String text;

    final MethodHandle sha256Init;
    final MethodHandle sha256Update;
    final MethodHandle sha256Final;
    final MethodHandle contextNew;
    final MethodHandle contextFree;
    final MethodHandle cipherInit;
    final MethodHandle cipherControl;
    final MethodHandle cipherUpdate;
    final MethodHandle cipherFinal;
    final MemorySegment aes128Gcm;
    final MemorySegment aes256Gcm;

    private Libcrypto(String name) {
        library = SymbolLookup.libraryLookup(name, Arena.global());
        long version = (long) invoke(call("OpenSSL_version_num", FunctionDescriptor.of(LONG)));
        if (version < VERSION_3 || version >= VERSION_4) {
            throw new IllegalStateException("%s has version %x, expected 3".formatted(name, version));
        }
        MemorySegment told = (MemorySegment) invoke(call("OpenSSL_version", FunctionDescriptor.of(ADDRESS, INT)), 0);
        text = told.reinterpret(VERSION_TEXT_MAX).getString(0);
        Linker.Option critical = Linker.Option.critical(true);
        // The state is a Java array, so there is nothing to free. These functions are older than EVP, and in all of
        // version 3.
        sha256Init = call("SHA256_Init", FunctionDescriptor.of(INT, ADDRESS), critical);
        sha256Update = call("SHA256_Update", FunctionDescriptor.of(INT, ADDRESS, ADDRESS, LONG), critical);
        sha256Final = call("SHA256_Final", FunctionDescriptor.of(INT, ADDRESS, ADDRESS), critical);
        contextNew = call("EVP_CIPHER_CTX_new", FunctionDescriptor.of(ADDRESS));
        contextFree = call("EVP_CIPHER_CTX_free", FunctionDescriptor.ofVoid(ADDRESS));
        cipherInit = call(
                "EVP_CipherInit_ex",
                FunctionDescriptor.of(INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, INT),
                critical);
        cipherControl = call("EVP_CIPHER_CTX_ctrl", FunctionDescriptor.of(INT, ADDRESS, INT, INT, ADDRESS), critical);
        cipherUpdate =
                call("EVP_CipherUpdate", FunctionDescriptor.of(INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, INT), critical);
        cipherFinal = call("EVP_CipherFinal_ex", FunctionDescriptor.of(INT, ADDRESS, ADDRESS, ADDRESS), critical);
        aes128Gcm = (MemorySegment) invoke(call("EVP_aes_128_gcm", FunctionDescriptor.of(ADDRESS)));
        aes256Gcm = (MemorySegment) invoke(call("EVP_aes_256_gcm", FunctionDescriptor.of(ADDRESS)));
    }

    /** Returns the library, if it is used. */
    static Optional<Libcrypto> found() {
        return FOUND;
    }

    /** Returns whether the library is used. */
    public static boolean isUsed() {
        return FOUND.isPresent();
    }

    /** Returns the file it was loaded from; empty if it is not used, or the system does not report it. */
    public static Optional<Path> file() {
        if (!isUsed()) {
            return Optional.empty();
        }
        try (Stream<String> mapped = Files.lines(Path.of("/proc/self/maps"))) {
            return mapped.filter(line -> line.contains("/libcrypto."))
                    .map(line -> Path.of(line.substring(line.indexOf('/'))))
                    .findFirst();
        } catch (IOException | UncheckedIOException e) {
            return Optional.empty();
        }
    }

    /** Returns the implementation as text for people: the library's version, or why it is not used. */
    public static String note() {
        return NOTE;
    }

    private MethodHandle call(String name, FunctionDescriptor function, Linker.Option... options) {
        MemorySegment symbol =
                library.find(name).orElseThrow(() -> new IllegalStateException("libcrypto has no function " + name));
        return linker.downcallHandle(symbol, function, options);
    }

    private static Object invoke(MethodHandle call, Object... arguments) {
        try {
            return call.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw defect(e);
        }
    }

    /** Checks that a call returned 1, its only success. */
    static void demand(int said) {
        if (said != 1) {
            throw new IllegalStateException("a libcrypto call failed");
        }
    }

    /** Returns what to throw for a method handle's exception; none of these functions throws one. */
    static RuntimeException defect(@Nullable Throwable e) {
        if (e instanceof RuntimeException known) {
            return known;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }
}
