package dozo.registry;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Filter;
import dozo.remote.Identity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The files of the service's keys, each in the work folder: the present key has the plain name, the one before it and the one that
 * is to follow it are beside it.
 */
public final class KeyFile {

    /** The ledger's action of a new key of the service. */
    public static final String INTRODUCED = "key.introduced";

    private KeyFile() {}

    /** Refuses to read a key of the service whose file is missing: reading must not create another one. */
    public static void checkThere(Path file) {
        if (Files.notExists(file)) {
            throw Refusal.conflict(
                    "key",
                    "the file %s is missing from the service's work folder; restore it from a backup, or restart the service to get a new key",
                    file.getFileName());
        }
    }

    /** Returns the file beside that of a key for the one that is to follow it. */
    public static Path next(Path file) {
        return file.resolveSibling(file.getFileName() + ".next");
    }

    /** Returns whether the ledger has a row for a key of the service. */
    public static boolean isIntroduced(Ledger ledger, String subject) {
        return !ledger.newest(new Filter(subject, INTRODUCED, null, null, null), Long.MAX_VALUE, 1)
                .isEmpty();
    }

    /**
     * Ends the rotation of a key: the next one takes the place of the present one if the ledger has introduced it, and is removed
     * otherwise. So the process may die, or a commit fail, at each moment of a rotation; the next call ends it.
     *
     * @param subject returns how the ledger names the key in a file
     * @param keeping whether the present one is kept in the file beside it
     */
    public static void settle(Path file, Ledger ledger, Function<Path, String> subject, boolean keeping) {
        Path next = next(file);
        try {
            if (Files.notExists(next)) {
                return;
            }
            if (!isIntroduced(ledger, subject.apply(next))) {
                Files.delete(next);
                return;
            }
            if (keeping && Files.exists(file)) {
                move(written(former(file), Files.readString(file, StandardCharsets.ISO_8859_1)), former(file));
            }
            move(next, file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot end the rotation of " + file, e);
        }
    }

    private static void move(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        try (FileChannel folder = FileChannel.open(requireNonNull(to.getParent()))) {
            folder.force(true);
        }
    }

    /** Returns the file beside that of a key for the key before it. */
    public static Path former(Path file) {
        return Identity.former(file);
    }

    /** Refuses to replace a key of the service that is missing, or whose former one is still there. */
    public static void checkAlone(Path file) {
        checkThere(file);
        if (isFormerThere(file)) {
            throw Refusal.conflict("key", "the key before %s is still in use; drop it first", file.getFileName());
        }
    }

    /** Returns whether another key, the former one, is beside this one. An interrupted rotation leaves the same one there. */
    public static boolean isFormerThere(Path file) {
        Path former = Identity.former(file);
        try {
            return Files.exists(former) && (Files.notExists(file) || Files.mismatch(former, file) >= 0);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot compare %s with the key before it".formatted(file), e);
        }
    }

    /** Refuses to drop a key before this one that is not there. */
    public static void checkFormer(Path file) {
        if (!isFormerThere(file)) {
            throw Refusal.conflict("key", "there is no key before %s", file.getFileName());
        }
    }

    /** Removes the key before this one. */
    public static void drop(Path file) {
        try {
            Files.deleteIfExists(Identity.former(file));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove the key before " + file, e);
        }
    }

    /** Creates another key of the service, for its owner only, unless something has its name. */
    public static void create(Path file, Supplier<String> text) {
        try {
            if (Files.notExists(file)) {
                Files.move(written(file, text.get()), file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create a key in " + file, e);
        }
    }

    private static Path written(Path file, String text) throws IOException {
        // Under another name first: a process that dies meanwhile must not leave half a key.
        Path part = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(part);
        Files.createFile(part, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(part, text, StandardCharsets.ISO_8859_1, StandardOpenOption.WRITE, StandardOpenOption.DSYNC);
        return part;
    }
}
