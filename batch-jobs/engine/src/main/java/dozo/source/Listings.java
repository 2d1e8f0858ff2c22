package dozo.source;

import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;

/** Is told what a source holds, folder by folder in no particular order, by several threads at once. */
public interface Listings {

    /** A folder that is about to be read. What is in it is told to the result by one thread. */
    Listing folder(FilePath folder) throws IOException, InterruptedException;

    /** Something that is there and cannot be an entry; of an unreadable folder nothing, or not all, was told. */
    void problem(FilePath path, Problem problem, String message) throws IOException, InterruptedException;

    /** What one folder holds. */
    interface Listing {

        /** The name has no slash in it; the facts are those of the thing itself, links not followed. */
        void entry(byte[] name, Facts facts) throws IOException, InterruptedException;

        /** All that the folder holds was told. Not called for a folder that could not be read to its end. */
        void end() throws IOException, InterruptedException;
    }
}
