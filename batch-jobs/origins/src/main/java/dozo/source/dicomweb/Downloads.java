package dozo.source.dicomweb;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.source.delivery.Delivered;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Fetching;
import dozo.source.delivery.ItemFolder;
import dozo.source.delivery.Part;
import dozo.source.delivery.Trouble;
import dozo.source.dicom.Damaged;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.NotDicom;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicom.Tag;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/**
 * Downloads the instances of a study into its folder. A download succeeds if size and MD5 are those that Orthanc
 * stores, and the file's header names the requested instance.
 */
final class Downloads implements Fetching<Instance> {

    private final Orthanc orthanc;
    private final PseudonymousCode codes;
    private final ItemFolder folder;
    private final Map<String, Integer> holders = new HashMap<>();

    /**
     * The note on an instance in the record of delivered files.
     *
     * @param patient its code
     * @param kind {@code FIRST} for the first instance with its UID, else its conflict with the first
     * @param md5 of the content; empty in older notes
     */
    record Note(String content, String patient, String kind, String md5) {

        static final String FORM =
                "[0-9a-f]{64} (?:S[0-9A-V]{16}|-) (?:FIRST|OTHER_PIXELS|OTHER_HEADER)(?: [0-9a-f]{32})?";
        static final String NO_PATIENT = "-";
        static final String FIRST = "FIRST";

        static Note of(Delivered.Entry place) {
            String[] words = place.note().split(" ", 4);
            return new Note(words[0], words[1], words[2], words.length < 4 ? "" : words[3]);
        }

        Optional<Trouble> conflict() {
            return kind.equals(FIRST) ? Optional.empty() : Optional.of(Trouble.valueOf(kind));
        }

        @Override
        public String toString() {
            return "%s %s %s %s".formatted(content, patient, kind, md5).strip();
        }
    }

    Downloads(Orthanc orthanc, PseudonymousCode codes, ItemFolder folder, ListedStudy told) {
        this.orthanc = orthanc;
        this.codes = codes;
        this.folder = folder;
        told.instances().forEach(instance -> holders.merge(instance.sopUid(), 1, Integer::sum));
    }

    @Override
    public Arrived fetch(Instance instance, Part part) throws IOException, InterruptedException {
        boolean alone = holders.getOrDefault(instance.sopUid(), 0) == 1;
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
        String md5 = HexFormat.of().formatHex(told.digest());
        if (!orthanc.stored(instance).md5().equals(md5)) {
            throw new DeliveryException(Trouble.BYTES_DIFFER, "MD5 mismatch with the file that Orthanc stores");
        }
        Header header = header(instance, part);
        Digest digest = Digest.of(content.digest());
        return () -> name(instance, digest, md5, header, part);
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has MD5", e);
        }
    }

    private static Header header(Instance instance, Part part) throws IOException {
        Header header = switch (new HeaderReader().read(part.path())) {
            case Header whole -> whole;
            case Damaged damaged -> damaged.before();
            case NotDicom none -> null;
        };
        if (header == null || !isAsAsked(instance, header)) {
            part.discard();
            throw new DeliveryException(Trouble.OTHER_INSTANCE, "the file's header names another instance, or none");
        }
        return header;
    }

    /** NB: checks only valid UIDs: Orthanc may show an invalid one differently from the file. */
    private static boolean isAsAsked(Instance instance, Header header) {
        return isSame(instance.sopUid(), header, Tag.SOP_INSTANCE_UID)
                && isSame(instance.seriesUid(), header, Tag.SERIES_INSTANCE_UID)
                && isSame(instance.studyUid(), header, Tag.STUDY_INSTANCE_UID);
    }

    private static boolean isSame(String asked, Header header, Tag came) {
        return !Uid.isPlain(asked) || asked.equals(header.text(came).orElse(null));
    }

    /** Gives an instance a final name that no other content has. */
    private Delivered.Entry name(Instance instance, Digest content, String md5, Header header, Part part)
            throws IOException {
        FilePath path = instance.path();
        String kind = Note.FIRST;
        if (isOther(path, content)) {
            kind = (hasSamePixels(folder.at(path), part.path()) ? Trouble.OTHER_HEADER : Trouble.OTHER_PIXELS).name();
            path = instance.twin(content);
        }
        if (isOther(path, content)) {
            throw new IOException("path is already used by another file: " + path);
        }
        if (exists(path)) {
            part.discard();
        } else {
            folder.name(part, path);
        }
        String patient = header.text(Tag.PATIENT_ID).flatMap(codes::of).orElse(Note.NO_PATIENT);
        String note = new Note(content.toString(), patient, kind, md5).toString();
        return new Delivered.Entry(instance.id(), instance.mark(), instance.sizeBytes(), note, path);
    }

    private boolean exists(FilePath path) {
        return Files.exists(folder.at(path), LinkOption.NOFOLLOW_LINKS);
    }

    private boolean isOther(FilePath path, Digest content) throws IOException {
        if (!exists(path)) {
            return false;
        }
        Path file = folder.at(path);
        Delivered.Entry known = folder.delivered().at(path).orElse(null);
        if (known != null && known.sizeBytes() == Files.size(file)) {
            return !Note.of(known).content().equals(content.toString());
        }
        return !Digest.of(Part.digest(file, Digest.algorithm()).digest()).equals(content);
    }

    /** NB: returns false if there are no pixels or they cannot be found. */
    private static boolean hasSamePixels(Path one, Path other) throws IOException {
        HeaderReader reader = new HeaderReader();
        Optional<Digest> pixels = reader.pixels(one);
        return pixels.isPresent() && pixels.equals(reader.pixels(other));
    }
}
