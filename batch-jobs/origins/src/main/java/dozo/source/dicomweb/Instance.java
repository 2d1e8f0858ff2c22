package dozo.source.dicomweb;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.ListedFile;
import dozo.source.delivery.Trouble;

/**
 * An instance as Orthanc lists it.
 *
 * @param id Orthanc's own, 40 hexadecimal digits in groups
 * @param mark changes if other bytes replace the instance's
 * @param series Orthanc's id of its series
 * @param sizeBytes of the file that Orthanc stores
 */
record Instance(String id, String mark, String series, String studyUid, String seriesUid, String sopUid, long sizeBytes)
        implements ListedFile {

    @Override
    public Item item(DeliveryException why) {
        return item(why.trouble(), String.valueOf(why.getMessage()));
    }

    /** NB: without Orthanc's id, which is an unkeyed digest of the PatientID. */
    Item item(Trouble trouble, String message) {
        return new Item(name(), Uid.shown(studyUid), trouble, message);
    }

    String name() {
        return "instance " + Uid.shown(sopUid);
    }

    boolean hasPlainUids() {
        return Uid.isPlain(studyUid) && Uid.isPlain(seriesUid) && Uid.isPlain(sopUid);
    }
}
