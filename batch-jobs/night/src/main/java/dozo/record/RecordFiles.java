package dozo.record;

import dozo.file.FilePath;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** The files below a site's root, wherever they are now. */
public interface RecordFiles {

    /** Returns the names of the files in a folder, in any order; none if there is no such folder. */
    List<FilePath> in(FilePath folder) throws IOException, InterruptedException;

    /** Opens a file. The caller must close it. */
    InputStream open(FilePath file) throws IOException, InterruptedException;
}
