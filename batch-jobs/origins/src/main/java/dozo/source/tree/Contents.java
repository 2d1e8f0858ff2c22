package dozo.source.tree;

import dozo.file.FilePath;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** What the rules need to know about files of an experiment's folder, beyond names, sizes and times. */
public interface Contents {

    /**
     * What one DICOM file says about its series.
     *
     * @param series its UID
     * @param number the series' name for people
     * @param acquisition which acquisition of the series; 0 if the file does not say
     * @param images how many are in this file
     * @param isImage whether it has pixels; reports and similar files have none, and their number is not stated
     * anywhere
     * @param seriesFiles how many files the series has
     * @param acquisitionImages how many images the acquisition has
     */
    record Image(
            String series,
            String number,
            int acquisition,
            int images,
            boolean isImage,
            OptionalInt seriesFiles,
            OptionalInt acquisitionImages) {}

    /** Returns what a file says about its series; empty if it is not a DICOM file, or names no series. */
    Optional<Image> image(FilePath file) throws IOException;

    /** Returns a file's first bytes, at most this many. */
    byte[] begin(FilePath file, int bytes) throws IOException;

    /** Returns whether a link's target exists. */
    boolean leads(FilePath link);

    /**
     * Returns the names of files that end with {@code .json}, {@code .bval} or {@code .bvec} in the folders above; they
     * also describe files below.
     */
    List<String> above() throws IOException;
}
