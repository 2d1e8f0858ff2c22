package dozo.copy;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** The folder that is filled. Distinguishes a failure of one name from one that ends the copy. */
record Destination(Path top) {

    /** A name that cannot be created here. */
    static final class Refused extends Exception {

        private static final long serialVersionUID = 1L;

        Refused(String message) {
            super(message);
        }
    }

    interface Deed {
        void run() throws IOException;
    }

    interface Question<T> {
        T ask() throws IOException;
    }

    Path path(FilePath name) {
        return name.under(top);
    }

    /** Returns whether a path is longer than this machine supports. */
    boolean isTooLong(FilePath name) {
        try {
            Files.readAttributes(path(name), BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return false;
        } catch (FileSystemException e) {
            return SystemText.isTooLong(e.getReason());
        } catch (IOException e) {
            return false;
        }
    }

    /** Does something with one name. */
    void with(FilePath name, Deed deed) throws IOException, Refused {
        var _ = of(name, () -> {
            deed.run();
            return name;
        });
    }

    /** Does something with one name, and returns the result. */
    <T> T of(FilePath name, Question<T> question) throws IOException, Refused {
        try {
            return question.ask();
        } catch (FileSystemException e) {
            if (isUnwritable(e)) {
                throw unwritable(e);
            }
            throw new Refused("%s: cannot be created here: %s".formatted(name, reason(e)));
        } catch (IOException e) {
            throw unwritable(e);
        }
    }

    /** Returns the failure of the destination as a whole. */
    IOException unwritable(IOException e) {
        String reason = reason(e);
        String advice = SystemText.isFull(reason) ? "; free some space there, then run again" : "";
        return new IOException("cannot write in %s: %s%s".formatted(top, reason, advice), e);
    }

    /** Returns whether nothing can be written here, whatever its name: there is no room, or the file system is read-only. */
    static boolean isUnwritable(FileSystemException e) {
        return SystemText.isFull(e.getReason()) || SystemText.isReadOnly(e.getReason());
    }

    /** Says what went wrong; Java says some of it only by the exception's class. */
    static String reason(IOException e) {
        return switch (e) {
            case AccessDeniedException _ -> "permission denied";
            case AtomicMoveNotSupportedException _ -> "another file system is mounted there";
            case FileAlreadyExistsException _, NotDirectoryException _ -> "exists and is not a folder";
            case NoSuchFileException _ -> "its parent folder does not exist";
            case FileSystemException system when system.getReason() != null -> system.getReason();
            default -> String.valueOf(e.getMessage());
        };
    }
}
