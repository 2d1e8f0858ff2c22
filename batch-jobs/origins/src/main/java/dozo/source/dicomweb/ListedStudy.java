package dozo.source.dicomweb;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.ListedFile;
import dozo.source.delivery.Trouble;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What Orthanc lists of a study.
 *
 * @param parts how many studies Orthanc has for the UID: one for each patient that its instances name
 * @param counted present if QIDO-RS counts another number of instances
 */
record ListedStudy(String studyUid, boolean stable, int parts, List<Instance> instances, Optional<Item> counted) {

    /** @throws DeliveryException if the study cannot be read or does not exist */
    static ListedStudy of(Orthanc orthanc, String studyUid) throws IOException, InterruptedException {
        List<Instance> instances = new ArrayList<>();
        boolean stable = true;
        int parts = 0;
        for (String id : orthanc.lookUp(studyUid)) {
            Orthanc.Held study = orthanc.study(id);
            if (!study.studyUid().equals(studyUid)) {
                continue;
            }
            parts++;
            stable &= study.stable();
            for (String series : study.series()) {
                instances.addAll(orthanc.instances(studyUid, orthanc.series(series)));
                if (instances.size() > Orthanc.INSTANCES_MAX) {
                    throw new DeliveryException(
                            Trouble.TOO_LARGE, "more than %d instances".formatted(Orthanc.INSTANCES_MAX));
                }
            }
        }
        if (parts == 0) {
            throw new DeliveryException(Trouble.GONE, "the study no longer exists");
        }
        return new ListedStudy(studyUid, stable, parts, instances, counted(orthanc, studyUid, instances.size()));
    }

    long bytes() {
        return ListedFile.bytes(instances);
    }

    private static Optional<Item> counted(Orthanc orthanc, String studyUid, int named)
            throws IOException, InterruptedException {
        // A search could interpret an invalid UID as something else.
        if (!Uid.isPlain(studyUid)) {
            return Optional.empty();
        }
        int count = orthanc.count(studyUid);
        if (count == named) {
            return Optional.empty();
        }
        return Optional.of(new Item(
                "study " + Uid.shown(studyUid),
                Uid.shown(studyUid),
                Trouble.COUNT_DIFFERS,
                "Orthanc lists %d instances, but QIDO-RS counts %d".formatted(named, count)));
    }
}
