package dozo.source.dicomweb;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.ListedFile;
import dozo.source.delivery.Trouble;

/**
 * An instance as Orthanc tells of it.
 *
 * @param id Orthanc's own, of 40 hexadecimal digits in groups
 * @param mark another one when other bytes have taken its place
 * @param series Orthanc's id of its series
 * @param sizeBytes of the file that Orthanc keeps
 */
record Instance(String id, String mark, String series, String studyUid, String seriesUid, String sopUid, long sizeBytes)
        implements ListedFile {

    @Override
    public Item item(DeliveryException why) {
        return item(why.trouble(), String.valueOf(why.getMessage()));
    }

    /** NB: without Orthanc's id, which is a digest of the PatientID without a key. */
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
