package dozo.source.dicomweb;

import java.util.List;

/**
 * What Orthanc says a study has, and what of it lies in the study's tree.
 *
 * @param studyUid as it is told: for comparing, not for showing
 * @param folder the study's, below the spool
 * @param stable whether Orthanc called all of it stable when it was asked
 * @param told instances that Orthanc names
 * @param delivered those of them that lie in the tree as they are told now
 * @param bytesFetched what came this time
 * @param missing what is not here, each with its reason
 * @param findings what is here and needs a person: two patients, one UID with two contents
 * @param remarks what is here and worth a word
 */
public record Delivery(
        String studyUid,
        String folder,
        boolean stable,
        int told,
        int delivered,
        long bytesFetched,
        StudyFacts facts,
        List<Item> missing,
        List<Item> findings,
        List<Item> remarks) {

    public Delivery {
        missing = List.copyOf(missing);
        findings = List.copyOf(findings);
        remarks = List.copyOf(remarks);
        if (missing.isEmpty() && delivered != told) {
            throw new IllegalArgumentException(
                    "%d instances of %d are delivered, and nothing is said to be missing".formatted(delivered, told));
        }
    }

    /** Whether all that Orthanc tells of is here. */
    public boolean isComplete() {
        return missing.isEmpty();
    }

    /** NB: not the UID, which may be any text. */
    @Override
    public String toString() {
        return "%s: %d of %d instances, missing %s, findings %s, remarks %s"
                .formatted(folder, delivered, told, missing, findings, remarks);
    }
}
