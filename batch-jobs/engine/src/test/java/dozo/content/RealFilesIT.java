package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** No healthy real file is called broken. */
class RealFilesIT {

    private static final List<String> FOLDERS = List.of("dicom", "nifti", "meg", "bids", "par_rec");

    /** Why each of these is broken, and what is said of it. */
    private static final Map<String, String> BROKEN_ON_PURPOSE = Map.ofEntries(
            // Cut by whoever published it, to test readers.
            Map.entry(
                    "dicom/malformed_pydicom/MR_truncated.dcm",
                    "it ends after 9,630 bytes, in the middle of its image data"),
            Map.entry(
                    "dicom/malformed_pydicom/rtplan_truncated.dcm",
                    "it ends after 2,129 bytes, in the middle of its header"),
            // Claims 3 GiB of image data, and was cut to keep the test small.
            Map.entry(
                    "dicom/misc_dcm4che_test_data/3gb-bulk-data-truncated",
                    "it ends after 100,000 bytes, in the middle of its image data"),
            // Made for Dozo: a length of 2 GiB with 512 bytes, and files cut at four places, one of them within the
            // preamble.
            Map.entry(
                    "dicom/made_conflicts_and_broken/pixel_length_2gib_claimed.dcm",
                    "it ends after 1,408 bytes, in the middle of its image data"),
            Map.entry("dicom/made_conflicts_and_broken/truncated_in_preamble.dcm", "its first 100 bytes are zeros"),
            Map.entry("dicom/made_conflicts_and_broken/preamble_only.dcm", "it ends after 132 bytes, before any data"),
            Map.entry(
                    "dicom/made_conflicts_and_broken/truncated_in_header.dcm",
                    "it ends after 400 bytes, in the middle of its header"),
            Map.entry(
                    "dicom/made_conflicts_and_broken/truncated_in_pixel_data.dcm",
                    "it ends after 1,208 bytes, in the middle of its image data"));

    @Test
    void onlyFilesThatWereMadeBrokenAreBroken() throws IOException {
        Map<String, Integer> counts = new TreeMap<>();
        Map<String, String> broken = new TreeMap<>();
        List<String> shown = new ArrayList<>();
        for (String folder : FOLDERS) {
            for (Path file : RealFiles.below(folder)) {
                String name = RealFiles.folder().relativize(file).toString();
                Verdict verdict = Judged.of(file.getFileName().toString(), Files.readAllBytes(file));
                counts.merge("%-20s %s".formatted(verdict.format(), verdict.state()), 1, Integer::sum);
                if (verdict.state() == State.BROKEN) {
                    broken.put(name, verdict.why());
                } else if (verdict.state() == State.SUSPECT) {
                    shown.add(name + ": " + verdict.why());
                }
            }
        }
        counts.forEach((kind, count) -> System.out.printf("%s: %,d%n", kind, count));
        shown.forEach(line -> System.out.println("suspect: " + line));
        assertThat(broken).containsExactlyInAnyOrderEntriesOf(BROKEN_ON_PURPOSE);
    }
}
