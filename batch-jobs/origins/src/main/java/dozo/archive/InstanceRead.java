package dozo.archive;

import dozo.copy.Inventory.StoredCopy;
import dozo.copy.ProvenRead;
import dozo.file.Entry;
import dozo.send.Throttle;
import dozo.source.dicom.Damaged;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.NotDicom;
import dozo.source.dicom.Parsed;
import dozo.source.dicom.Tag;
import dozo.source.dicomweb.Archive.Identity;
import dozo.source.dicomweb.Archive.Proof;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** Reads one file from a site into a batch, and identifies the instance in it. */
final class InstanceRead extends OutputStream {

    private static final int PREAMBLE_BYTES = 128;
    static final String NO_UIDS = "it has no valid StudyInstanceUID, SeriesInstanceUID or SOPInstanceUID";
    private static final byte[] DICM = "DICM".getBytes(StandardCharsets.US_ASCII);

    private final Batch batch;
    private final long offset;
    private final long sizeBytes;
    private final MessageDigest md5 = md5();
    private final byte[] beginning = new byte[PREAMBLE_BYTES + DICM.length];
    private long length;

    /** The file is no instance that can be sent; the message says why. */
    static final class NotSent extends IOException {

        private static final long serialVersionUID = 1L;

        NotSent(String why) {
            super(why);
        }
    }

    private InstanceRead(Batch batch, long offset, long sizeBytes) {
        this.batch = batch;
        this.offset = offset;
        this.sizeBytes = sizeBytes;
    }

    /**
     * Reads a file and proves its bytes.
     *
     * @throws NotSent if it is not a Part 10 file, or lacks a UID; a large one is not read to its end
     * @throws ProvenRead.Differs if its bytes have another digest
     */
    static Fetched of(ProvenRead site, Entry entry, StoredCopy copy, Batch batch, long offset, Throttle throttle)
            throws IOException, InterruptedException {
        long sizeBytes = entry.facts().sizeBytes();
        InstanceRead read = new InstanceRead(batch, offset, sizeBytes);
        site.into(new Throttled(read, throttle), copy.place(), copy.digest());
        if (read.length < sizeBytes) {
            throw new NotSent("the copy is shorter than the manifest says");
        }
        read.checkBeginning();
        Identity identity = identity(new HeaderReader().read(batch.read(offset, sizeBytes)));
        return new Fetched(
                entry, offset, new Proof(identity, HexFormat.of().formatHex(read.md5.digest()), copy.digest()));
    }

    private static Identity identity(Parsed parsed) throws NotSent {
        Header header = switch (parsed) {
            case Header whole -> whole;
            case Damaged damaged -> damaged.before();
            case NotDicom _ -> throw notPart10();
        };
        return new Identity(
                uid(header, Tag.STUDY_INSTANCE_UID),
                uid(header, Tag.SERIES_INSTANCE_UID),
                uid(header, Tag.SOP_INSTANCE_UID));
    }

    private static String uid(Header header, Tag tag) throws NotSent {
        return header.text(tag).filter(uid -> !uid.isBlank()).orElseThrow(() -> new NotSent(NO_UIDS));
    }

    private static NotSent notPart10() {
        return new NotSent("it is not a DICOM Part 10 file");
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
        if (count > sizeBytes - length) {
            throw new NotSent("the copy is longer than the manifest says");
        }
        if (length < beginning.length) {
            System.arraycopy(bytes, from, beginning, (int) length, (int) Math.min(count, beginning.length - length));
        }
        batch.write(bytes, from, count, offset + length);
        md5.update(bytes, from, count);
        length += count;
        if (length >= beginning.length) {
            checkBeginning();
        }
    }

    private void checkBeginning() throws NotSent {
        if (!Arrays.equals(beginning, PREAMBLE_BYTES, beginning.length, DICM, 0, DICM.length)) {
            throw notPart10();
        }
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has MD5", e);
        }
    }
}
