package dozo.suggest;

import java.time.LocalDate;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What the files of a folder say of themselves. Of their patients there are only codes.
 *
 * @param studies StudyInstanceUIDs; of one that is none, a code that stands for it
 * @param stations what the scanners call themselves, by the modality of the files that say so
 * @param models of the scanners, by the modality of the files that name no station
 * @param accessions accession numbers of bookings: for looking these up, and for nothing else
 * @param filesSeen names of files that were seen
 * @param filesRead those of them of which the begin was read
 * @param damaged DICOM files that go on as something else
 * @param unreadable files and folders that could not be opened
 * @param whole whether everything in it was seen, and every file that could say something was read
 */
record FolderFacts(
        Set<String> studies,
        Set<String> subjects,
        Set<LocalDate> days,
        Set<String> modalities,
        Map<String, Set<String>> stations,
        Map<String, Set<String>> models,
        Set<String> accessions,
        int filesSeen,
        int filesRead,
        int damaged,
        int unreadable,
        boolean whole) {

    /** What comes with the images of a scanner and is not one. */
    private static final Set<String> COMPANIONS =
            Set.of("SR", "PR", "KO", "OT", "SC", "SEG", "DOC", "REG", "RAW", "RWV", "AU", "PLAN", "RTSTRUCT");

    /** The modalities of what a scanner acquired; what rides along counts only where there is nothing else. */
    Set<String> mainModalities() {
        Set<String> main = modalities.stream()
                .filter(modality -> !COMPANIONS.contains(modality))
                .collect(Collectors.toCollection(TreeSet::new));
        return main.isEmpty() ? modalities : main;
    }

    /** What scanners of the main modalities call themselves. */
    List<String> mainStations() {
        return main(stations);
    }

    /** The models of scanners of the main modalities. */
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

    /** Whether nothing says anything. */
    boolean isSilent() {
        return studies.isEmpty()
                && subjects.isEmpty()
                && days.isEmpty()
                && modalities.isEmpty()
                && stations.isEmpty()
                && models.isEmpty();
    }
}
