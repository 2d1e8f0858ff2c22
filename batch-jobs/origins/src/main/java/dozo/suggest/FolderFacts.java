package dozo.suggest;

import java.time.LocalDate;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Facts from the files of a folder. Patients are present only as codes.
 *
 * @param studies StudyInstanceUIDs; a code instead of an invalid one
 * @param stations the scanners' own names, by the modality of the files that state them
 * @param models of the scanners, by the modality of the files that state no station
 * @param accessions accession numbers of bookings: only for looking these up
 * @param dataset the BIDS dataset that it is, or is in; null: there is none
 * @param filesSeen how many file names were seen
 * @param filesRead how many of these files' beginnings were read
 * @param damaged how many DICOM files cannot be read to the end of their header
 * @param unreadable how many files and folders could not be opened
 * @param whole whether the whole content was seen, and every file that could contain facts was read
 */
record FolderFacts(
        Set<String> studies,
        Set<String> subjects,
        Set<LocalDate> days,
        Set<String> modalities,
        Map<String, Set<String>> stations,
        Map<String, Set<String>> models,
        Set<String> accessions,
        @Nullable Bids dataset,
        int filesSeen,
        int filesRead,
        int damaged,
        int unreadable,
        boolean whole) {

    /** Modalities of objects that accompany a scanner's images. */
    private static final Set<String> COMPANIONS =
            Set.of("SR", "PR", "KO", "OT", "SC", "SEG", "DOC", "REG", "RAW", "RWV", "AU", "PLAN", "RTSTRUCT");

    /**
     * Returns the modalities that a scanner acquired; those of accompanying objects count only if there are no others.
     */
    Set<String> mainModalities() {
        Set<String> main = modalities.stream()
                .filter(modality -> !COMPANIONS.contains(modality))
                .collect(Collectors.toCollection(TreeSet::new));
        return main.isEmpty() ? modalities : main;
    }

    /** Returns the subjects that the headers name; without any, those of the dataset. */
    Set<String> subjects(boolean withLabels) {
        return dataset == null || !withLabels || !subjects.isEmpty()
                ? subjects
                : Set.copyOf(
                        dataset.labels().isEmpty()
                                ? dataset.participants()
                                : dataset.labels().subList(0, 1));
    }

    /** Returns the scanners' own names for the main modalities. */
    List<String> mainStations() {
        return main(stations);
    }

    /** Returns the scanners' models for the main modalities. */
    List<String> mainModels() {
        return main(models);
    }

    private List<String> main(Map<String, Set<String>> said) {
        Set<String> main = mainModalities();
        return said.entrySet().stream()
                .filter(each -> main.isEmpty() || main.contains(each.getKey()))
                .map(Map.Entry::getValue)
                .flatMap(Collection::stream)
                .distinct()
                .sorted()
                .toList();
    }

    /** Returns whether there are no facts. */
    boolean isSilent() {
        return studies.isEmpty()
                && subjects.isEmpty()
                && days.isEmpty()
                && modalities.isEmpty()
                && stations.isEmpty()
                && models.isEmpty()
                && dataset == null;
    }
}
