package dozo.source.dicomweb;

import dozo.file.Digest;
import dozo.source.dicom.Damaged;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.NotDicom;
import dozo.source.dicom.Parsed;
import dozo.source.dicom.Tag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * One instance on its way into the spool, under a temporary name. It is here when its size and MD5 are as Orthanc keeps them, its bytes
 * say that they are the instance that was asked for, and they are on the disk.
 */
final class Download {

    /** Twice other bytes than those that are kept is no accident of the network. */
    private static final int LOOKS = 2;

    private final Orthanc orthanc;
    private final Instance instance;
    private final boolean alone;
    private final Path part;

    /** An instance that is here, under its temporary name. */
    record Came(Instance instance, Path part, Digest content, Header header) {}

    private static final class Arriving implements Orthanc.Sink {

        private final Instance instance;
        private final FileChannel channel;
        private final MessageDigest content = Digest.algorithm();
        private final MessageDigest told = md5();
        private long taken;

        Arriving(Instance instance, FileChannel channel) throws DicomwebException {
            this.instance = instance;
            this.channel = channel;
            try {
                channel.truncate(0);
            } catch (IOException e) {
                throw DicomwebException.spoolFails(e);
            }
        }

        @Override
        public void take(byte[] bytes, int length) throws IOException {
            taken += length;
            if (taken > instance.sizeBytes()) {
                throw differs();
            }
            content.update(bytes, 0, length);
            told.update(bytes, 0, length);
            try {
                for (ByteBuffer left = ByteBuffer.wrap(bytes, 0, length); left.hasRemaining(); ) {
                    channel.write(left);
                }
            } catch (IOException e) {
                throw DicomwebException.spoolFails(e);
            }
        }

        void checkSize() throws DicomwebException {
            if (taken != instance.sizeBytes()) {
                throw differs();
            }
        }

        private DicomwebException differs() {
            return new DicomwebException(
                    Trouble.SIZE_DIFFERS,
                    "%d bytes or more came, not the %d it was told to have".formatted(taken, instance.sizeBytes()));
        }

        private static MessageDigest md5() {
            try {
                return MessageDigest.getInstance("MD5");
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every Java platform has MD5", e);
            }
        }
    }

    /** @param part the temporary name; nothing else uses it at the same time */
    Download(Orthanc orthanc, Instance instance, boolean alone, Path part) {
        this.orthanc = orthanc;
        this.instance = instance;
        this.alone = alone;
        this.part = part;
    }

    /**
     * Brings the bytes.
     *
     * @throws DicomwebException when they did not come, or not as they are kept, after all tries
     */
    Came come() throws IOException, InterruptedException {
        try (FileChannel channel = open()) {
            Arriving arrived = fetch(channel);
            Header header = header();
            try {
                channel.force(true);
            } catch (IOException e) {
                throw DicomwebException.spoolFails(e);
            }
            return new Came(instance, part, Digest.of(arrived.content.digest()), header);
        } catch (DicomwebException e) {
            Files.deleteIfExists(part);
            throw e;
        }
    }

    private Arriving fetch(FileChannel channel) throws IOException, InterruptedException {
        for (int look = 1; ; look++) {
            Arriving arrived = orthanc.retrieve(instance, alone, () -> new Arriving(instance, channel.position(0)));
            try {
                arrived.checkSize();
                checkMd5(arrived);
                return arrived;
            } catch (DicomwebException e) {
                boolean mayBeChance = e.trouble() == Trouble.SIZE_DIFFERS || e.trouble() == Trouble.BYTES_DIFFER;
                if (!mayBeChance || look == LOOKS) {
                    throw e;
                }
            }
        }
    }

    /** MD5 is what Orthanc keeps; it is good enough against chance, and the digest of record is another. */
    private void checkMd5(Arriving arrived) throws IOException, InterruptedException {
        if (!orthanc.md5(instance).equals(HexFormat.of().formatHex(arrived.told.digest()))) {
            throw new DicomwebException(Trouble.BYTES_DIFFER, "the bytes that came have another MD5 than those kept");
        }
    }

    private Header header() throws IOException {
        Parsed parsed;
        try {
            parsed = new HeaderReader().read(part);
        } catch (IOException e) {
            throw DicomwebException.spoolFails(e);
        }
        Header header = switch (parsed) {
            case Header whole -> whole;
            case Damaged damaged -> damaged.before();
            case NotDicom none -> null;
        };
        if (header == null || !isAsAsked(header)) {
            throw new DicomwebException(Trouble.OTHER_INSTANCE, "the bytes say that they are something else");
        }
        return header;
    }

    /** NB: only where both are UIDs: what is none may be shown otherwise by Orthanc than it stands in the file. */
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

    private FileChannel open() throws DicomwebException {
        try {
            return FileChannel.open(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw DicomwebException.spoolFails(e);
        }
    }
}
