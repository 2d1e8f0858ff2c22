package dozo.source.tree;

import dozo.file.FilePath;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** What is asked of files of an experiment's folder beyond their names, sizes and times. */
public interface Contents {

    /**
     * What one DICOM file says of the series that it is of.
     *
     * @param series its UID
     * @param number what people know the series by
     * @param acquisition which of the series; 0 where it does not say
     * @param images in this file
     * @param isImage whether it has pixels: reports and the like have none, and nobody tells how many there are
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

    /** What a file says of its series; empty: it is no DICOM file, or names no series. */
    Optional<Image> image(FilePath file) throws IOException;

    /** A file's first bytes, at most so many. */
    byte[] begin(FilePath file, int bytes) throws IOException;

    /** Whether a link leads to something. */
    boolean leads(FilePath link);

    /** Names of files ending with {@code .json}, {@code .bval} or {@code .bvec} in the folders above, which are for what is below them. */
    List<String> above() throws IOException;
}
