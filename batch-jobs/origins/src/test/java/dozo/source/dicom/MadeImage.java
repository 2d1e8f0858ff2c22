package dozo.source.dicom;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.regex.Pattern;

/** Copies of a small real image, as many as wanted. They differ in UIDs and PatientID only. */
public final class MadeImage {

    private static final String UID = "1.3.6.1.4.1.5962.1.%s.20040826185059.%s";
    private static final String SOP = "1.4.1.1";
    private static final String REAL = "5457";

    /** The SOPInstanceUIDs; the group is the number. */
    public static final Pattern NUMBER =
            Pattern.compile(UID.formatted(SOP, "([0-9]{4})").replace(".", "\\."));

    private MadeImage() {}

    /**
     * Returns the file of an image.
     *
     * @param patient up to 9999, as the others
     * @param study also of its series
     * @param number of the instance
     */
    public static byte[] of(int patient, int study, int number) throws IOException {
        byte[] real = Files.readAllBytes(SharedData.folder().resolve("small_pydicom/MR_small.dcm"));
        return new String(real, StandardCharsets.ISO_8859_1)
                .replace("4MR1", "%04d".formatted(patient))
                .replace(UID.formatted("2.4", REAL), UID.formatted("2.4", "%04d".formatted(study)))
                .replace(UID.formatted("3.4.1", REAL), UID.formatted("3.4.1", "%04d".formatted(study)))
                .replace(UID.formatted(SOP, REAL), UID.formatted(SOP, "%04d".formatted(number)))
                .getBytes(StandardCharsets.ISO_8859_1);
    }
}
