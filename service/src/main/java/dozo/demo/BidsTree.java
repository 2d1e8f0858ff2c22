package dozo.demo;

import dozo.file.FilePath;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;

/** A BIDS data set with NIfTI-1 images, and with the links and empty files and folders that such trees have. */
final class BidsTree {

    private static final int NIFTI_HEADER_BYTES = 352;
    private static final short NIFTI_INT16 = 4;
    private static final byte NIFTI_MILLIMETRES_AND_SECONDS = 2 | 8;

    private BidsTree() {}

    static void write(NewTree tree) throws IOException {
        tree.file("dataset_description.json", """
                {"Name": "Visual grating (synthetic)", "BIDSVersion": "1.9.0", "License": "CC0"}
                """);
        tree.file("participants.tsv", "participant_id\tage\tsex\nsub-01\t23\tn/a\nsub-02\t31\tn/a\n");
        tree.file("README", "Synthetic data; no person was scanned.\n");
        tree.file(".bidsignore", "");
        writeAnatomy(tree);
        writeFunction(tree);
        writeLinks(tree);
    }

    private static void writeAnatomy(NewTree tree) throws IOException {
        tree.file("sub-01/anat/sub-01_T1w.json", """
                {"MagneticFieldStrength": 3, "RepetitionTime": 2.3, "EchoTime": 0.00298, "FlipAngle": 9}
                """);
        writeImage(tree.newFile(FilePath.of("sub-01/anat/sub-01_T1w.nii.gz")), new Image(160, 192, 192, 1, 1.0f, 2.3f));
    }

    private static void writeFunction(NewTree tree) throws IOException {
        for (int run = 1; run <= 2; run++) {
            String name = "sub-01/func/sub-01_task-grating_run-" + run + "_";
            tree.file(name + "bold.json", """
                    {"TaskName": "grating", "MagneticFieldStrength": 3, "RepetitionTime": 1.0, "EchoTime": 0.03}
                    """);
            tree.file(name + "events.tsv", events());
            writeImage(tree.newFile(FilePath.of(name + "bold.nii.gz")), new Image(64, 64, 36, 20, 3.0f, 1.0f));
        }
    }

    private static void writeLinks(NewTree tree) throws IOException {
        tree.folder(FilePath.of("sub-02/func"));
        tree.linkTo(FilePath.of("derivatives/latest"), FilePath.of("sub-01/func"));
        tree.linkTo(FilePath.of("derivatives/reference.json"), FilePath.of("sub-01/anat/sub-01_T1w.json"));
        tree.hardLink(FilePath.of("sourcedata/sub-01_T1w.nii.gz"), FilePath.of("sub-01/anat/sub-01_T1w.nii.gz"));
        // A link as git-annex leaves it when the content was not fetched: its target does not exist.
        String key = "MD5E-s9815040--d41d8cd98f00b204e9800998ecf8427e.nii.gz";
        tree.link(
                FilePath.of("sub-02/anat/sub-02_T1w.nii.gz"),
                Path.of("../../.git/annex/objects/zK/7q/" + key + "/" + key));
    }

    private static String events() {
        StringBuilder text = new StringBuilder("onset\tduration\ttrial_type\n");
        for (int trial = 0; trial < 20; trial++) {
            text.append(trial).append(trial % 2 == 0 ? ".0\t0.5\tgrating\n" : ".0\t0.5\trest\n");
        }
        return text.toString();
    }

    private record Image(int x, int y, int z, int volumes, float voxelMillimetres, float repetitionSeconds) {

        int voxelsPerSlice() {
            return x * y;
        }

        int slices() {
            return z * volumes;
        }
    }

    private static void writeImage(Path file, Image image) throws IOException {
        SplittableRandom noise = new SplittableRandom(image.slices());
        // NB: GZIPOutputStream writes no time into its header, so the bytes are the same every time.
        try (OutputStream out =
                new BufferedOutputStream(new GZIPOutputStream(Files.newOutputStream(file), 65_536), 65_536)) {
            out.write(niftiHeader(image));
            ByteBuffer slice = ByteBuffer.allocate(image.voxelsPerSlice() * 2).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < image.slices(); i++) {
                slice.clear();
                while (slice.hasRemaining()) {
                    slice.putShort((short) (500 + noise.nextInt(256)));
                }
                out.write(slice.array());
            }
        }
    }

    /** Returns the 348 bytes of nifti1.h and four zeros, which mean that no extension follows. */
    private static byte[] niftiHeader(Image image) {
        ByteBuffer header = ByteBuffer.allocate(NIFTI_HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        float voxel = image.voxelMillimetres;
        header.putInt(0, 348).put(38, (byte) 'r');
        int[] dim = {image.volumes > 1 ? 4 : 3, image.x, image.y, image.z, image.volumes, 1, 1, 1};
        float[] pixdim = {1, voxel, voxel, voxel, image.repetitionSeconds, 0, 0, 0};
        for (int i = 0; i < 8; i++) {
            header.putShort(40 + 2 * i, (short) dim[i]).putFloat(76 + 4 * i, pixdim[i]);
        }
        header.putShort(70, NIFTI_INT16).putShort(72, (short) 16);
        header.putFloat(108, NIFTI_HEADER_BYTES).putFloat(112, 1).put(123, NIFTI_MILLIMETRES_AND_SECONDS);
        header.put(148, "dozo demo".getBytes(StandardCharsets.US_ASCII));
        // Scanner coordinates (sform code 1): voxel indices times voxel size, no rotation.
        header.putShort(254, (short) 1)
                .putFloat(280, voxel)
                .putFloat(300, voxel)
                .putFloat(320, voxel);
        header.put(344, "n+1".getBytes(StandardCharsets.US_ASCII));
        return header.array();
    }
}
