package dozo.source.dicomweb;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.source.delivery.Item;
import dozo.source.delivery.ListedFile;
import dozo.source.delivery.Trouble;

/**
 * An instance as Orthanc lists it. Its path in the tree is made of the UIDs if they are valid, else of codes for them.
 *
 * @param id Orthanc's own, 40 hexadecimal digits in groups
 * @param mark changes if other bytes replace the instance's
 * @param series Orthanc's id of its series
 * @param sizeBytes of the file that Orthanc stores
 */
record Instance(String id, String mark, String series, String studyUid, String seriesUid, String sopUid, long sizeBytes)
        implements ListedFile {

    private static final int DIGEST_LENGTH = 16;

    /** NB: without Orthanc's id, which is an unkeyed digest of the PatientID. */
    @Override
    public Item item(Trouble trouble, String message) {
        return new Item(name(), Uid.shown(studyUid), trouble, message);
    }

    FilePath path() {
        return FilePath.of("%s/%s.dcm".formatted(Uid.shown(seriesUid), Uid.shown(sopUid)));
    }

    /** Returns the path if its UID already belongs to other content. */
    FilePath twin(Digest content) {
        String part = content.toString().substring(0, DIGEST_LENGTH);
        return FilePath.of("%s/%s~%s.dcm".formatted(Uid.shown(seriesUid), Uid.shown(sopUid), part));
    }

    String name() {
        return "instance " + Uid.shown(sopUid);
    }

    boolean hasPlainUids() {
        return Uid.isPlain(studyUid) && Uid.isPlain(seriesUid) && Uid.isPlain(sopUid);
    }
}
