package dozo.source;

import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;

/** Receives the content of a source, folder by folder in no particular order, from several threads at once. */
public interface Listings {

    /** Begins a folder. Its content is passed to the result by one thread. */
    Listing folder(FilePath folder) throws IOException, InterruptedException;

    /** Receives something that cannot be an entry; the content of an unreadable folder is missing or incomplete. */
    void problem(FilePath path, Problem problem, String message) throws IOException, InterruptedException;

    /** Returns whether the content of a folder with this name in another is wanted. */
    default boolean enters(FilePath parent, byte[] name) {
        return true;
    }

    /** Receives the content of one folder. */
    interface Listing {

        /** Receives an entry. The name contains no slash; links are not followed for the facts. */
        void entry(byte[] name, Facts facts) throws IOException, InterruptedException;

        /** Ends the folder: its content is complete. Not called for a folder that could not be read completely. */
        void end() throws IOException, InterruptedException;
    }
}
