package dozo.source.dicomweb;

import java.time.LocalDate;
import java.util.Optional;
import java.util.Set;

/**
 * What a study's own files say of it; of its patient only codes.
 *
 * @param patients one code as a rule; none if the files name no patient, more than one is a finding
 * @param modality of its images: MR rather than what rides along
 * @param stationName as the scanner calls itself
 * @param deviceSerialNumber the scanner's, the better key where there is one
 * @param accessionNumber of the booking
 * @param requestedProcedureId of the booking
 */
public record StudyFacts(
        Set<String> patients,
        Optional<String> modality,
        Optional<String> stationName,
        Optional<String> deviceSerialNumber,
        Optional<LocalDate> acquired,
        Optional<String> accessionNumber,
        Optional<String> requestedProcedureId) {

    static final StudyFacts NONE = new StudyFacts(
            Set.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    public StudyFacts {
        patients = Set.copyOf(patients);
    }
}
