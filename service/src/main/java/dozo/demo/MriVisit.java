package dozo.demo;

import dozo.demo.DicomFile.Element;
import dozo.file.FilePath;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/** A visit as a 3T scanner writes it: three series of 40 slices, one DICOM file each, about 16 MB. */
final class MriVisit {

    private static final String MR_IMAGE_STORAGE = "1.2.840.10008.5.1.4.1.1.4";
    private static final String STUDY = "dozo demo study S0123";
    private static final int SLICES = 40;
    private static final int PIXELS = 256;

    private static final List<Series> ALL_SERIES = List.of(
            new Series(1, "localizer", "093112", "2D", "8.6", "4", "20"),
            new Series(2, "t1_mprage_sag", "093540", "3D", "2300", "2.98", "9"),
            new Series(3, "fmri_視覚_run1", "094425", "2D", "1000", "30", "60"));

    private MriVisit() {}

    static void write(NewTree tree) throws IOException {
        for (Series series : ALL_SERIES) {
            FilePath folder = FilePath.of("dicom/000" + series.number + "_" + series.description);
            for (int slice = 1; slice <= SLICES; slice++) {
                String uid = DicomFile.uid(STUDY + " series " + series.number + " slice " + slice);
                byte[] file = DicomFile.of(MR_IMAGE_STORAGE, uid, dataSet(series, slice, uid));
                tree.file(folder.resolve(String.format(Locale.ROOT, "MR%06d.dcm", slice)), file);
            }
        }
        tree.file("scan_protocol.txt", "3T, head coil with 32 channels\nlocalizer, T1 MPRAGE, visual fMRI run 1\n");
    }

    private record Series(
            int number,
            String description,
            String time,
            String acquisition,
            String repetitionMillis,
            String echoMillis,
            String flipDegrees) {}

    private static List<Element> dataSet(Series series, int slice, String uid) {
        List<Element> elements = new ArrayList<>(visit());
        elements.addAll(series(series));
        elements.addAll(image(slice, uid));
        elements.add(new Element(0x7FE00010, "OW", pixels(series.number, slice)));
        return elements;
    }

    private static List<Element> visit() {
        return List.of(
                Element.text(0x00080005, "CS", "ISO_IR 192"),
                Element.text(0x00080020, "DA", "20260417"),
                Element.text(0x00080030, "TM", "093000"),
                Element.text(0x00080050, "SH", "A26-0417"),
                Element.text(0x00080060, "CS", "MR"),
                Element.text(0x00080070, "LO", "Dozo synthetic"),
                Element.text(0x00080090, "PN", ""),
                Element.text(0x00081010, "SH", "MR3T01"),
                Element.text(0x00081030, "LO", "Research^visual_grating"),
                Element.text(0x00081090, "LO", "Virtual 3T"),
                Element.text(0x00100010, "PN", "S0123"),
                Element.text(0x00100020, "LO", "S0123"),
                Element.text(0x00100030, "DA", ""),
                Element.text(0x00100040, "CS", "O"),
                Element.text(0x00120062, "CS", "YES"),
                Element.text(0x00120063, "LO", "synthetic, no person was scanned"),
                Element.text(0x00180087, "DS", "3"),
                Element.text(0x00181000, "LO", "000042"),
                Element.text(0x00181020, "LO", "dozo demo 1"),
                Element.text(0x00185100, "CS", "HFS"),
                Element.text(0x0020000D, "UI", DicomFile.uid(STUDY)),
                Element.text(0x00200010, "SH", "1"),
                Element.text(0x00200052, "UI", DicomFile.uid(STUDY + " frame of reference")),
                Element.text(0x00201040, "LO", ""));
    }

    private static List<Element> series(Series series) {
        return List.of(
                Element.text(0x00080021, "DA", "20260417"),
                Element.text(0x00080022, "DA", "20260417"),
                Element.text(0x00080031, "TM", series.time),
                Element.text(0x00080032, "TM", series.time),
                Element.text(0x0008103E, "LO", series.description),
                Element.text(0x00180020, "CS", "GR"),
                Element.text(0x00180021, "CS", "SP"),
                Element.text(0x00180022, "CS", ""),
                Element.text(0x00180023, "CS", series.acquisition),
                Element.text(0x00180050, "DS", "3"),
                Element.text(0x00180080, "DS", series.repetitionMillis),
                Element.text(0x00180081, "DS", series.echoMillis),
                Element.text(0x00180091, "IS", "1"),
                Element.text(0x00181030, "LO", series.description),
                Element.text(0x00181314, "DS", series.flipDegrees),
                Element.text(0x0020000E, "UI", DicomFile.uid(STUDY + " series " + series.number)),
                Element.text(0x00200011, "IS", Integer.toString(series.number)));
    }

    private static List<Element> image(int slice, String uid) {
        String position = String.format(Locale.ROOT, "%.1f", (slice - (SLICES + 1) / 2.0) * 3);
        return List.of(
                Element.text(0x00080008, "CS", "ORIGINAL\\PRIMARY\\M\\ND"),
                Element.text(0x00080016, "UI", MR_IMAGE_STORAGE),
                Element.text(0x00080018, "UI", uid),
                Element.text(0x00200012, "IS", "1"),
                Element.text(0x00200013, "IS", Integer.toString(slice)),
                Element.text(0x00200032, "DS", "-128\\-128\\" + position),
                Element.text(0x00200037, "DS", "1\\0\\0\\0\\1\\0"),
                Element.text(0x00201041, "DS", position),
                Element.int16(0x00280002, 1),
                Element.text(0x00280004, "CS", "MONOCHROME2"),
                Element.int16(0x00280010, PIXELS),
                Element.int16(0x00280011, PIXELS),
                Element.text(0x00280030, "DS", "1\\1"),
                Element.int16(0x00280100, 16),
                Element.int16(0x00280101, 12),
                Element.int16(0x00280102, 11),
                Element.int16(0x00280103, 0),
                Element.text(0x00281050, "DS", "600"),
                Element.text(0x00281051, "DS", "1200"));
    }

    /** Draws a bright ellipsoid in noise. */
    private static byte[] pixels(int series, int slice) {
        SplittableRandom noise = new SplittableRandom(1_000L * series + slice);
        ByteBuffer pixels = ByteBuffer.allocate(PIXELS * PIXELS * 2).order(ByteOrder.LITTLE_ENDIAN);
        double z = (slice - (SLICES + 1) / 2.0) / 21;
        for (int row = 0; row < PIXELS; row++) {
            for (int column = 0; column < PIXELS; column++) {
                double x = (column - 127.5) / 85;
                double y = (row - 127.5) / 105;
                double signal = Math.max(0, 1 - x * x - y * y - z * z);
                pixels.putShort((short) (1_500 * Math.sqrt(signal) + noise.nextInt(64)));
            }
        }
        return pixels.array();
    }
}
