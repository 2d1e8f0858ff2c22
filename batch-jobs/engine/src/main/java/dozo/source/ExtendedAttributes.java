package dozo.source;

import dozo.file.Attributes;
import dozo.file.Attributes.Attribute;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The extended attributes of a path, ACLs among them. If the path's last name is a link, they are the link's own. Linux
 * only, as {@link Crawl}: Java itself knows only those of users.
 */
public final class ExtendedAttributes {

    /** The limit of all values of an entry; file systems have lower ones for most kinds. */
    public static final int BYTES_MAX = 64 * 1024;

    /** The file system has no extended attributes. */
    public static final class Unsupported extends FileSystemException {

        private static final long serialVersionUID = 1L;

        Unsupported(byte[] path) {
            super(FilePath.render(path), null, Errno.reason(Errno.EOPNOTSUPP));
        }
    }

    private ExtendedAttributes() {}

    /**
     * Reads those that are recorded ({@link Attribute#isRecorded}), as far as this process may read them, in the order
     * of their names.
     *
     * @throws Unsupported if the file system has none
     * @throws IOException if the path cannot be read, or they are longer than {@link #BYTES_MAX}
     */
    public static Attributes of(Path path) throws IOException {
        return of(FilePath.rawBytes(path));
    }

    /** Reads those of what has this name in a folder that is held open. */
    public static Attributes of(OpenFolder folder, byte[] name) throws IOException {
        byte[] above = FilePath.rawBytes(folder.path());
        byte[] path = Arrays.copyOf(above, above.length + 1 + name.length);
        path[above.length] = '/';
        System.arraycopy(name, 0, path, above.length + 1, name.length);
        return of(path);
    }

    private static Attributes of(byte[] path) throws IOException {
        checkPossible(path);
        return OpenFile.call(kernel -> {
            int bytes = kernel.listAttributes(path);
            if (bytes == 0) {
                return Attributes.NONE;
            }
            return read(kernel, path, names(kernel.attributeNames(checked(bytes, path))));
        });
    }

    private static Attributes read(Kernel kernel, byte[] path, List<String> names) throws IOException {
        List<Attribute> all = new ArrayList<>();
        int total = 0;
        for (String name : names) {
            int bytes = kernel.readAttribute(raw(name));
            // Removed meanwhile, or not for us.
            if (bytes != -Errno.ENODATA && bytes != -Errno.EACCES && bytes != -Errno.EPERM) {
                all.add(new Attribute(name, kernel.attributeValue(checked(bytes, path))));
                total += bytes;
            }
        }
        if (total > BYTES_MAX) {
            throw tooLong(path);
        }
        return Attributes.of(all);
    }

    private static List<String> names(byte[] names) {
        return List.of(new String(names, StandardCharsets.ISO_8859_1).split("\0")).stream()
                .filter(Attribute::isRecorded)
                .sorted()
                .toList();
    }

    /**
     * Sets one.
     *
     * @throws IOException if the file system or the system refuses it
     */
    public static void set(Path path, Attribute attribute) throws IOException {
        byte[] bytes = FilePath.rawBytes(path);
        checkPossible(bytes);
        if (attribute.value().length > BYTES_MAX) {
            throw tooLong(bytes);
        }
        OpenFile.call(kernel -> checked(kernel.setAttribute(bytes, raw(attribute.name()), attribute.value()), bytes));
    }

    /**
     * Removes one, if there is one.
     *
     * @throws IOException if the system refuses it
     */
    public static void remove(Path path, String name) throws IOException {
        byte[] bytes = FilePath.rawBytes(path);
        checkPossible(bytes);
        OpenFile.call(kernel -> {
            int removed = kernel.removeAttribute(bytes, raw(name));
            return removed == -Errno.ENODATA || removed == -Errno.EOPNOTSUPP ? 0 : checked(removed, bytes);
        });
    }

    private static void checkPossible(byte[] path) throws Unsupported {
        if (!Kernel.isHere()) {
            throw new Unsupported(path);
        }
    }

    private static int checked(int result, byte[] path) throws IOException {
        return switch (-result) {
            case Errno.EOPNOTSUPP -> throw new Unsupported(path);
            case Errno.ERANGE -> throw tooLong(path);
            case Errno.ENOENT -> throw new NoSuchFileException(FilePath.render(path));
            default -> {
                if (result < 0) {
                    throw new FileSystemException(FilePath.render(path), null, Errno.reason(-result));
                }
                yield result;
            }
        };
    }

    private static FileSystemException tooLong(byte[] path) {
        return new FileSystemException(
                FilePath.render(path), null, "the extended attributes are longer than %d bytes".formatted(BYTES_MAX));
    }

    private static byte[] raw(String name) {
        return name.getBytes(StandardCharsets.ISO_8859_1);
    }
}
