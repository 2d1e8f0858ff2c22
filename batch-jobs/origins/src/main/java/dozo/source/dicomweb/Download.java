package dozo.source.dicomweb;

import dozo.file.Digest;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Part;
import dozo.source.delivery.Trouble;
import dozo.source.dicom.Damaged;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.NotDicom;
import dozo.source.dicom.Tag;
import java.io.IOException;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The download of one instance into the spool. It succeeds if size and MD5 are those that Orthanc stores, and the
 * file's header names the requested instance.
 */
final class Download {

    private final Orthanc orthanc;
    private final Instance instance;
    private final boolean alone;
    private final Part part;

    /** A downloaded instance, under its temporary name. */
    record Came(Instance instance, Digest content, Header header) {}

    Download(Orthanc orthanc, Instance instance, boolean alone, Part part) {
        this.orthanc = orthanc;
        this.instance = instance;
        this.alone = alone;
        this.part = part;
    }

    /**
     * Downloads the bytes.
     *
     * @throws DeliveryException if the download fails, or its bytes differ from those stored, after all tries
     */
    Came come() throws IOException, InterruptedException {
        MessageDigest content = Digest.algorithm();
        MessageDigest told = md5();
        orthanc.retrieve(instance, alone, body -> {
            content.reset();
            told.reset();
            part.take(new DigestInputStream(new DigestInputStream(body, told), content), 0, instance.sizeBytes());
        });
        long bytes = part.sizeBytes();
        if (bytes != instance.sizeBytes()) {
            throw new DeliveryException(
                    Trouble.SIZE_DIFFERS, "received %d bytes, expected %d".formatted(bytes, instance.sizeBytes()));
        }
        // Orthanc stores only MD5. It detects accidental errors; the digest of record is another one.
        if (!orthanc.md5(instance).equals(HexFormat.of().formatHex(told.digest()))) {
            throw new DeliveryException(Trouble.BYTES_DIFFER, "MD5 mismatch with the file that Orthanc stores");
        }
        return new Came(instance, Digest.of(content.digest()), header());
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has MD5", e);
        }
    }

    private Header header() throws IOException {
        Header header = switch (new HeaderReader().read(part.path())) {
            case Header whole -> whole;
            case Damaged damaged -> damaged.before();
            case NotDicom none -> null;
        };
        if (header == null || !isAsAsked(header)) {
            part.discard();
            throw new DeliveryException(Trouble.OTHER_INSTANCE, "the file's header names another instance, or none");
        }
        return header;
    }

    /** NB: checks only valid UIDs: Orthanc may show an invalid one differently from the file. */
    private boolean isAsAsked(Header header) {
        return isSame(instance.sopUid(), header.text(Tag.SOP_INSTANCE_UID).orElse(null))
                && isSame(
                        instance.seriesUid(),
                        header.text(Tag.SERIES_INSTANCE_UID).orElse(null))
                && isSame(
                        instance.studyUid(), header.text(Tag.STUDY_INSTANCE_UID).orElse(null));
    }

    private static boolean isSame(String asked, @Nullable String came) {
        return !Uid.isPlain(asked) || asked.equals(came);
    }
}
