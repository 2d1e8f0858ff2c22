package dozo.start;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * A file whose only line is a secret. Others may be able to read the file, because containers mount secrets in closed
 * folders; others must not be able to write it.
 */
public final class SecretFile {

    public static final String ALLOWED = "a file whose only line is the secret, writable only by its owner";

    private static final int BYTES_MAX = 4096;
    private static final int MIB = 1 << 20;

    private SecretFile() {}

    /**
     * Returns the secret.
     *
     * @throws IllegalArgumentException if the file is wrong; the message does not contain its content
     */
    public static String read(String name) {
        String secret = content(name, BYTES_MAX, true).strip();
        if (secret.isEmpty() || secret.lines().count() != 1) {
            throw new IllegalArgumentException(
                    "names %s, which %s".formatted(name, secret.isEmpty() ? "is empty" : "has more than one line"));
        }
        return secret;
    }

    /**
     * Returns a reader of the file: after it was replaced, it gives the new secret. While the file is missing or wrong, such as half
     * written, it gives the last one that was right.
     *
     * @throws IllegalArgumentException if the file is wrong now; the message does not contain its content
     */
    public static Supplier<String> followed(String name) {
        AtomicReference<String> last = new AtomicReference<>(read(name));
        return () -> {
            try {
                last.set(read(name));
            } catch (IllegalArgumentException wrong) {
                // Perhaps right at the next look.
            }
            return last.get();
        };
    }

    /**
     * Returns the text of a file that a setting names.
     *
     * @param secret whether others must not be able to write it
     * @throws IllegalArgumentException if the file is wrong; the message does not contain its content
     */
    static String content(String name, int bytesMax, boolean secret) {
        try {
            Path file = Path.of(name);
            if (!Files.isRegularFile(file)) {
                throw new IllegalArgumentException("is \"%s\", which does not exist".formatted(name));
            }
            if (secret) {
                refuseOpen(file, name);
            }
            if (Files.size(file) > bytesMax) {
                throw new IllegalArgumentException("names %s, which is longer than %s"
                        .formatted(name, bytesMax < MIB ? bytesMax + " bytes" : bytesMax / MIB + " MiB"));
            }
            return Files.readString(file);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException("is not a valid file name", e);
        } catch (IOException e) {
            throw new IllegalArgumentException("names %s, which cannot be read".formatted(name), e);
        }
    }

    /**
     * Creates a file with a random secret that only its owner may read and write. Leaves an existing file of this name
     * as it is.
     *
     * @param bytes number of random bytes; the file has them in base64
     */
    public static Path made(Path folder, String name, int bytes) throws IOException {
        FileAttribute<?> fileIsOurs =
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        Path file = folder.resolve(name);
        if (Files.exists(file)) {
            return file;
        }
        byte[] secret = new byte[bytes];
        new SecureRandom().nextBytes(secret);
        // The file gets its name only when complete, so a killed start leaves no empty secret.
        Path fresh = Files.createTempFile(folder, "." + name, "", fileIsOurs);
        Files.writeString(fresh, Base64.getUrlEncoder().encodeToString(secret) + "\n");
        try {
            Files.move(fresh, file);
        } catch (FileAlreadyExistsException other) {
            Files.delete(fresh);
        }
        return file;
    }

    /** Returns whether other users of this machine can read a file: it and all folders above it are open to them. */
    public static boolean isReadByOthers(Path file) throws IOException {
        Path real = file.toRealPath();
        if (!Files.getPosixFilePermissions(real).contains(PosixFilePermission.OTHERS_READ)) {
            return false;
        }
        for (Path folder = real.getParent(); folder != null; folder = folder.getParent()) {
            if (!Files.getPosixFilePermissions(folder).contains(PosixFilePermission.OTHERS_EXECUTE)) {
                return false;
            }
        }
        return true;
    }

    private static void refuseOpen(Path file, String name) throws IOException {
        PosixFileAttributeView owned = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        if (owned == null) {
            return;
        }
        Set<PosixFilePermission> permissions = owned.readAttributes().permissions();
        if (permissions.contains(PosixFilePermission.GROUP_WRITE)
                || permissions.contains(PosixFilePermission.OTHERS_WRITE)) {
            throw new IllegalArgumentException("names %s, which others can write to".formatted(name));
        }
    }
}
