package dozo.source;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** The meaning of a Linux error number for a walk. */
enum Errno {
    GONE,
    /** Also a link, if links are not followed. */
    NO_FOLDER,
    REFUSED,
    /** A resource of this machine is used up; the source is fine. */
    EXHAUSTED,
    OTHER;

    static final int EPERM = 1;
    static final int ENOENT = 2;
    static final int EIO = 5;
    static final int ENOMEM = 12;
    static final int EACCES = 13;
    static final int ENOTDIR = 20;
    static final int ENFILE = 23;
    static final int EMFILE = 24;
    static final int ERANGE = 34;
    static final int ENOSYS = 38;
    static final int ELOOP = 40;
    static final int ENODATA = 61;
    static final int EOPNOTSUPP = 95;
    static final int ESTALE = 116;

    static Errno of(int error) {
        return switch (error) {
            case ENOENT -> GONE;
            case ENOTDIR, ELOOP -> NO_FOLDER;
            case EPERM, EACCES -> REFUSED;
            case ENOMEM, ENFILE, EMFILE -> EXHAUSTED;
            default -> OTHER;
        };
    }

    /** Returns the error as text for people. */
    static String reason(int error) {
        return switch (error) {
            case ENOENT -> "no longer exists";
            case ENOTDIR, ELOOP -> "no longer a folder";
            case EPERM, EACCES -> "permission denied";
            case EIO -> "I/O error";
            case ESTALE -> "stale file handle";
            case ENOMEM -> "out of memory";
            case ENFILE, EMFILE -> "too many open files";
            case EOPNOTSUPP -> "not supported by this file system";
            default -> "system error " + error;
        };
    }

    /** Returns the result of a kernel call, or throws its error as an exception for that path. */
    static int checked(int result, FilePath path) throws IOException {
        if (result >= 0) {
            return result;
        }
        throw failure(-result, path.toString());
    }

    /** Returns an error as the exception for what has this name. */
    static IOException failure(int error, String name) {
        return switch (of(error)) {
            case GONE -> new NoSuchFileException(name);
            case NO_FOLDER -> new NotDirectoryException(name);
            case REFUSED -> new AccessDeniedException(name);
            case EXHAUSTED, OTHER -> new FileSystemException(name, null, reason(error));
        };
    }
}
